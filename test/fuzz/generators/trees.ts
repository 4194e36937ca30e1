/** A tree of files below a directory: odd names, many names, depth, links in circles, and things that are no files. */
import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Random } from '../random.js';
import { oddName } from './names.js';

/** `DIRECTORY [most]`: how many names at most. */
export async function makeTree(
  random: Random,
  [directory = '', most = '20000']: readonly string[],
): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const places = [Buffer.from(directory)];
  for (let count = random.size(60); count > 0; count--) {
    const parent = random.pick(places);
    const path = Buffer.concat([parent, Buffer.from('/'), oddName(random)]);
    attempt(() => makeOne(random, path, places));
  }
  if (random.chance(0.4)) makeMany(random, directory, random.size(Number(most)));
  if (random.chance(0.3)) makeDeep(random, directory);
  if (random.chance(0.3)) await makeSocket(`${directory}/socket`);
  attempt(() => symlinkSync(directory, `${directory}/itself`));
}

function makeOne(random: Random, path: Buffer, places: Buffer[]): void {
  random.pick([
    () => {
      mkdirSync(path, { mode: random.pick([0o755, 0o755, 0o000, 0o111]) });
      places.push(path);
    },
    () => writeFileSync(path, contents(random)),
    () => writeFileSync(path, contents(random), { mode: random.pick([0o644, 0o000]) }),
    () =>
      symlinkSync(
        random.pick([
          '/',
          '/etc/passwd',
          '..',
          '.',
          '/proc/self/fd/0',
          'nowhere',
          'x'.repeat(3000),
          '/dev/zero',
        ]),
        path,
      ),
    () => linkSync(random.pick(places), path),
    () => spawnSync('mkfifo', [path.toString('latin1')]),
    () => {
      writeFileSync(path, '');
      // Takes no room, and is larger than any readable file.
      truncateSync(path.toString('utf8'), random.pick([2 ** 31, 2 ** 40]));
    },
    () => {
      writeFileSync(path, '');
      chmodSync(path, 0o000);
    },
  ])();
}

/** Long lines, lines without end, bytes, and what a search matches everywhere. */
function contents(random: Random): Buffer {
  return random.pick([
    () => random.bytes(random.size(20_000)),
    () => Buffer.from('a'.repeat(random.size(200_000))),
    () => Buffer.from('\n'.repeat(random.size(200_000))),
    () => Buffer.from('needle\n'.repeat(random.size(50_000))),
    () => Buffer.from([0xff, 0xfe, ...random.bytes(100)]),
  ])();
}

function makeMany(random: Random, directory: string, count: number): void {
  const name = 'n'.repeat(random.between(1, 200));
  mkdirSync(`${directory}/many`);
  for (let at = 0; at < count; at++) writeFileSync(`${directory}/many/${at}-${name}`, '');
}

/** Deeper than a path can be long. */
function makeDeep(random: Random, directory: string): void {
  process.chdir(directory);
  const name = 'd'.repeat(random.between(1, 200));
  for (let depth = random.size(1500); depth > 0; depth--) {
    mkdirSync(name);
    process.chdir(name);
  }
  attempt(() => writeFileSync('bottom', 'needle\n'));
}

async function makeSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise((resolve) => server.once('error', resolve).listen(path, () => resolve(undefined)));
  server.unref();
}

/** A name may exist, be too long or not allowed. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Another one follows.
  }
}
