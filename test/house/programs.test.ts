/** What this side does by a name that others may give a new meaning: start a program, remove a tree. */
import { expect, test } from 'vitest';
import { filesBelow, readText } from './source.js';

/** These run inside of cells. */
const inCells = ['src/runtime/tools/toolkits/', 'src/testing/'];

const start =
  /(?:\b(?:spawn|spawnSync|execFile|execFileSync|execSync|fork)|promisify\(execFile\))\(\s*['"`](?!\/)/;

test('programs are started by an absolute path', () => {
  const bare = filesBelow('src', '.ts')
    .filter((file) => !inCells.some((folder) => file.startsWith(folder)))
    .filter((file) => start.test(readText(file)));
  expect(bare).toEqual([]);
});

test('the reader sees a bare name', () => {
  for (const source of [
    "spawn('bash', [])",
    "execFileSync(\n  'ps'",
    "promisify(execFile)('git'",
    'spawnSync("rm"',
  ])
    expect(source).toMatch(start);
  for (const source of ["spawn('/bin/sh', [])", "spawn(hostProgram('bash'))", 'execFile(program'])
    expect(source).not.toMatch(start);
});

test('trees are removed beneath open directories, and in one place', () => {
  const byPath = filesBelow('src', '.ts')
    .filter((file) => file !== 'src/base/remove-tree.ts' && !file.startsWith('src/testing/'))
    .filter((file) => /\brm(?:Sync)?\([^;]*recursive: true/.test(readText(file)));
  expect(byPath).toEqual([]);
});
