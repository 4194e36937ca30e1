/** Names as file systems and repositories allow them, whatever programs expect. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Random } from '../random.js';

export function oddName(random: Random): Buffer {
  const name = random.pick<() => Buffer>([
    () => Buffer.from(random.pick(special)),
    () =>
      Buffer.from(
        random
          .list(6, () => random.pick(special))
          .join('')
          .replaceAll('/', ''),
      ),
    () => random.bytes(random.between(1, 60)),
    () => Buffer.from(`${random.int(1000)}.txt`),
    () => Buffer.from('é'.repeat(random.between(1, 127))),
  ])();
  const safe = Buffer.from(name.filter((byte) => byte !== 0 && byte !== 0x2f)).subarray(0, 255);
  return safe.length === 0 || ['.', '..'].includes(safe.toString('latin1')) ? Buffer.from('plain') : safe;
}

const special = [
  '-rf',
  '--help',
  ' ',
  '\n',
  '\r',
  '\t',
  '\x1b[2J',
  '\x07',
  "'",
  '"',
  '`id`',
  '$(id)',
  '$HOME',
  '*',
  '?',
  '[a]',
  '{a,b}',
  '\\',
  '%2e%2e',
  '~',
  '#',
  '!x',
  ';',
  '&',
  '|',
  'a b',
  'a\nb',
  'needle',
  '.git',
  '.gitignore',
  '__proto__',
  'constructor',
  '\u202egpj.exe',
  'e\u0301',
  '\u00e9',
  '👩‍👩‍👧',
  '\ufeff',
  'CON',
  'name:stream',
  'x'.repeat(255),
  '[[:alpha:]]',
  '->',
  ' -> ',
  '=> ',
]; // prettier-ignore

/** A repository in a directory, with commits, branches and files whose names and authors are odd. */
export function makeNames(random: Random, [directory = '']: readonly string[]): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const git = (...words: string[]) => {
    try {
      execFileSync('git', words, { cwd: directory, stdio: 'ignore' });
    } catch {
      // A name that git refuses is not the point.
    }
  };
  git('init', '-q');
  git('config', 'user.email', 'fuzz@example.invalid');
  git('config', 'user.name', `fuzz ${random.pick(special).replaceAll('\0', '')}`);
  for (let commit = random.between(1, 3); commit > 0; commit--) {
    for (let count = random.between(1, 12); count > 0; count--) writeOdd(random, directory);
    git('add', '-A');
    git('commit', '-q', '--allow-empty-message', '-m', random.list(4, () => random.pick(special)).join(''));
    git('branch', random.pick(special));
  }
  for (let count = random.between(0, 12); count > 0; count--) writeOdd(random, directory);
  if (random.chance(0.5)) git('add', '-A');
}

function writeOdd(random: Random, directory: string): void {
  try {
    const path = Buffer.concat([Buffer.from(`${directory}/`), oddName(random)]);
    if (random.chance(0.3)) mkdirSync(path);
    else writeFileSync(path, random.bytes(random.size(300)));
  } catch {
    // Taken already.
  }
}
