import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { contractSuite } from '../contract/suite.js';

contractSuite('cli', { backend: 'cli' }, { traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'] });

test('a temporary workspace is removed at close', async () => {
  const runtime = await createRuntime({ config: false, backend: 'cli' });
  await runtime.write('note', 'x');
  await runtime.close();
  expect(existsSync(runtime.workspace)).toBe(false);
});

test('a workspace that was given stays, with what was written', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'given-'));
  try {
    const runtime = await createRuntime({ config: false, backend: 'cli', workspace });
    await runtime.write('note', 'x');
    await runtime.close();
    expect(existsSync(join(workspace, 'note'))).toBe(true);
  } finally {
    rmSync(workspace, { recursive: true });
  }
});

test('it says that it isolates nothing', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  expect(runtime.isolation.tier).toBe('none');
  expect(runtime.isolation.facts.every((fact) => !fact.enforced)).toBe(true);
});
