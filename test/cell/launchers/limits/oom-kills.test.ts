import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { forgetOomKills, readOomKills } from '../../../../src/cell/launchers/limits/oom-kills.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-oom-'));

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function groupWith(name: string, kills: number): string {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true });
  const file = join(path, 'memory.events');
  writeFileSync(file, `low 0\noom 9\noom_kill ${kills}\n`);
  return file;
}

/** The files below the directory that this process holds open. */
function held(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const target = readlinkSync(join('/proc/self/fd', name));
      return target.startsWith(`${directory}/`) ? [target] : [];
    } catch {
      return [];
    }
  });
}

test('a file is opened once and read anew each time', () => {
  const file = groupWith('one', 2);
  expect(readOomKills(file)).toBe(2);
  writeFileSync(file, 'oom_kill 3\n');
  expect(readOomKills(file)).toBe(3);
  // Without its name only the open descriptor leads to it.
  renameSync(file, `${file}.moved`);
  expect(readOomKills(file)).toBe(3);
  forgetOomKills(file);
  expect(held()).toEqual([]);
  expect(readOomKills(file)).toBeUndefined();
});

test('two hundred groups take few descriptors, and each still answers', () => {
  const files = Array.from({ length: 200 }, (_, index) => groupWith(`many-${index}`, index));
  for (const [index, file] of files.entries()) expect(readOomKills(file)).toBe(index);
  expect(held().length).toBeLessThanOrEqual(64);
  expect(readOomKills(files[0] as string)).toBe(0);
  expect(held()).toContain(files[0]);
  for (const file of files) forgetOomKills(file);
  expect(held()).toEqual([]);
});
