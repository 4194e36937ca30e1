import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime, type WorkspaceOption } from '../../../src/index.js';
import { serve, type TestServer, token } from '../../cell/server/serve.js';

const root = mkdtempSync(join(tmpdir(), 'mirrored-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const open = ({ url }: TestServer, workspace: WorkspaceOption) =>
  createRuntime({ config: false, backend: 'remote', url, token, workspace, plugins: [], tools: [] });

it('begins with a large file, and goes back with it', { timeout: 180_000 }, async () => {
  await using served = await serve({ over: 'unix' });
  const from = mkdtempSync(join(root, 'from-'));
  writeFileSync(join(from, 'theirs'), '');
  truncateSync(join(from, 'theirs'), 68_000_000);
  await using runtime = await open(served, { from, mode: 'copy' });
  await runtime.run('echo 1 > a');
  const first = await runtime.checkpoint();
  await runtime.run('echo 2 > a');
  const { changes } = await runtime.rewind(first);
  expect(changes.map(({ path }) => path)).toEqual(['a']);
  expect((await runtime.run('cat a; stat -c %s theirs')).output).toBe('1\n68000000\n');
});

it('applies without the pipes and sockets of the caller, which do not travel', async () => {
  await using served = await serve({ over: 'unix' });
  const from = mkdtempSync(join(root, 'from-'));
  execFileSync('mkfifo', [join(from, 'pipe')]);
  const listener = createServer().listen(join(from, 'socket'));
  try {
    await using runtime = await open(served, { from, mode: 'copy' });
    await runtime.run('echo new > new');
    expect((await runtime.diff()).map(({ path }) => path)).toEqual(['new']);
    expect(await runtime.apply(from)).toMatchObject({ applied: true, conflicts: [] });
    expect(readdirSync(from).sort()).toEqual(['new', 'pipe', 'socket']);
  } finally {
    listener.close();
  }
});
