/** The command line keeps its compiled form in the user's cache. It is code, so it counts only where nobody else can write. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workcell } from './workcell.js';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'workcell-test-cache-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

const compiled = () => {
  const folder = join(cache, 'workcell/compiled');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};
const help = () => workcell(['help'], { env: { XDG_CACHE_HOME: cache } });

test('the first start makes it, and the next ones use it as it is', async () => {
  const first = await help();
  expect(first).toMatchObject({ exitCode: 0, stderr: '' });
  const [file = '', ...others] = compiled();
  expect(others).toEqual([]);
  const { ino, mode } = statSync(file);
  expect(mode & 0o777).toBe(0o600);
  expect(await help()).toEqual(first);
  expect(compiled()).toEqual([file]);
  expect(statSync(file).ino).toBe(ino);
});

test.each([
  ['others can write to', (file: string) => chmodSync(file, 0o666)],
  ['is no code', (file: string) => writeFileSync(file, 'no code')],
  ['lost its end', (file: string) => truncateSync(file, 500_000)],
  ['is damaged', (file: string) => writeFileSync(file, readFileSync(file).fill(0xff, 60_000, 90_000))],
])('one that %s is not used, and is made again', async (_, spoil) => {
  const first = await help();
  const [file = ''] = compiled();
  spoil(file);
  const { ino } = statSync(file);
  expect(await help()).toEqual(first);
  expect(statSync(file).ino).not.toBe(ino);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('where the cache cannot be written, all works without it', async () => {
  writeFileSync(join(cache, 'workcell'), 'a file in the way');
  expect(await help()).toMatchObject({ exitCode: 0, stderr: '' });
});

test('few are kept', async () => {
  const folder = join(cache, 'workcell/compiled');
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < 12; index++) writeFileSync(join(folder, `program-${index}`), '');
  await help();
  expect(compiled()).toHaveLength(8);
});
