import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime, type WorkspaceOption } from '../../../src/index.js';
import { builtFile } from '../../built-file.js';

const root = mkdtempSync(join(tmpdir(), 'limited-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const program = new URL('limited-cell.mjs', import.meta.url).pathname;
const nobody = 65_534;
const users = process.getuid?.() === 0 ? [0, nobody] : [process.getuid?.()];
const modes = ['overlay', 'copy', 'empty'] as const;

it.each(users.flatMap((uid) => modes.map((mode) => [mode, uid] as const)))(
  'holds a workspace of mode %s to its size, for user %i',
  (mode, uid) => {
    const { stdout, stderr } = spawnSync(process.execPath, [program, builtFile('index.js'), mode], {
      encoding: 'utf8',
      uid,
      gid: uid,
      env: { PATH: process.env.PATH, HOME: tmpdir() },
    });
    expect(stderr).toBe('');
    const found = JSON.parse(stdout) as Record<string, unknown>;
    const isEmpty = mode === 'empty';
    expect(found).toMatchObject({
      fact: true,
      forkFact: true,
      error: true,
      full: ['disk-full', true, 'disk-full', true],
      fork: isEmpty ? 'kept\nmore\nfile\nkept' : 'kept\nold\nmore\nfile\nkept',
      merged: true,
      rewound: 'file\nkept\n640',
      later: 'kept\nfile\nkept\ntheirs',
      applied: 'kept',
      untouched: true,
      mounts: false,
    });
    if (!isEmpty) expect(found.begins).toBe('750\nold\ninner');
    const own = isEmpty ? ['added file'] : ['removed dir', 'removed dir/inner', 'changed file'];
    expect(found.diff).toEqual([...own, 'added kept', 'added theirs']);
    for (const bytes of [found.bytes, found.forkBytes]) {
      expect(bytes).toBeGreaterThan(3 * 1024 * 1024);
      expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    }
    expect(found.names).toBeGreaterThan(80);
    expect(found.names).toBeLessThanOrEqual(100);
  },
);

it.each<[string, Record<string, unknown>]>([
  ['capability-unsupported', { backend: 'cli', workspace: { mode: 'empty', size: { bytes: 1e6 } } }],
  [
    'capability-unsupported',
    { backend: 'sandbox', keeper: true, workspace: { mode: 'empty', size: { bytes: 1e6 } } },
  ],
  ['invalid-config', { backend: 'sandbox', workspace: { from: root, mode: 'direct', size: { bytes: 1e6 } } }],
])('refuses with %s a limit that would not hold: %j', async (code, options) => {
  const { workspace, ...others } = options;
  const starting = createRuntime({
    config: false,
    plugins: [],
    tools: [],
    workspace: workspace as WorkspaceOption,
    ...others,
  });
  await expect(starting).rejects.toMatchObject({ code });
});
