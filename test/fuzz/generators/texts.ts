/** Files that are long or odd as text, what a repository tells agents, a git that prints too much, and output by the megabyte. */
import { mkdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import type { Random } from '../random.js';

const mebibyte = 1024 * 1024;

/** Longer than an edit takes. */
const mostBytes = 20 * mebibyte;

/** `text FILE`, `agents DIRECTORY`, `git FILE` or `print`. */
export function makeText(random: Random, [what = '', path = '']: readonly string[]): void {
  if (what === 'text') writeFileSync(path, longText(random));
  if (what === 'agents') writeAgents(random, path);
  if (what === 'git') writeFileSync(path, falseGit(random), { mode: 0o755 });
  if (what === 'print') print(random);
}

/** Ends with a word that is nowhere else. */
function longText(random: Random): Buffer {
  const size = random.pick([random.size(mostBytes), 15 * mebibyte, 16 * mebibyte - 100]);
  const unit = random.pick([
    '\n',
    'a',
    'a\n',
    '\r\n',
    'ü',
    '😀',
    ' \t',
    `${'a'.repeat(1000)}\n`,
    '\x01',
    'needle\n',
  ]);
  const text = Buffer.alloc(size, unit);
  if (random.chance(0.2)) text.fill(random.bytes(1), 0, random.int(size + 1));
  return Buffer.concat([
    random.chance(0.1) ? Buffer.from([0xff, 0xfe]) : Buffer.alloc(0),
    text,
    Buffer.from('\nEND\n'),
  ]);
}

function writeAgents(random: Random, directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (let count = random.size(40); count >= 0; count--)
    writeFileSync(`${directory}/${count}.md`, `---\n${frontMatter(random, random.size(250_000))}\n---\ntext`);
}

function frontMatter(random: Random, size: number): string {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `${at}:\n`).join('');
  return random.pick([
    () => keys(size / 7),
    () => `triggers: [${'a, '.repeat(size / 3)}]`,
    () => `a: ${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
    () => '- '.repeat(size / 2),
    () => `a: &a [x, x]\nb: [${'*a, '.repeat(size / 4)}]`,
    () => `triggers: "${'\\x41'.repeat(size / 4)}"`,
    () => `${' '.repeat(size)}x`,
    () => `? ${'? '.repeat(size / 2)}`,
    () => random.bytes(Math.min(size, 20_000)).toString('latin1'),
  ])();
}

function falseGit(random: Random): string {
  const mebibytes = random.pick([1, 15, 70]);
  const unit = random.pick(['? a\\0', '1 A. N... 0 0 0 0 0 a\\0', 'a\\n', '\\0', 'R\\0a\\0b\\0', '\\n']);
  const target = random.pick(['>&1', '>&2']);
  const code = random.pick([0, 1]);
  return `#!/bin/sh
for word; do
  case $word in status|ls-files|--name-status|log|for-each-ref)
    perl -e 'print "${unit}" x 65536 while ($count += ${65_536 * 4}) < ${mebibytes * mebibyte}' ${target}; exit ${code} ;;
  esac
done
for git in /usr/bin/git /usr/local/bin/git; do [ -x "$git" ] && exec "$git" "$@"; done
`;
}

/** To both streams. */
function print(random: Random): void {
  const piece = Buffer.alloc(mebibyte, random.pick(['\x01', 'ü', '\xff', '\n', 'a', '"', '😀', '\ud800']));
  for (let left = random.size(32); left > 0; left--) for (const stream of [1, 2]) writeSync(stream, piece);
}
