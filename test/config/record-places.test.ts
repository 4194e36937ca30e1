import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-record-places-'));
const workspace = join(directory, 'work');
beforeAll(() => {
  mkdirSync(workspace);
  symlinkSync(workspace, join(directory, 'alias'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const start = (options: object) => createRuntime({ backend: 'cli', config: false, workspace, ...options });

test.each([
  ['in the workspace', 'work/events.db'],
  ['below it, where nothing is yet', 'work/a/b/events.db'],
  ['in it by another name', 'alias/events.db'],
])('a record %s does not start a cell, which could change it', async (_where, file) => {
  const path = join(directory, file);
  const refused = { code: 'invalid-config', message: expect.stringContaining(path) };
  await expect(start({ events: { store: `sqlite:${path}` } })).rejects.toMatchObject(refused);
  await expect(start({ audit: { file: path } })).rejects.toMatchObject(refused);
  await expect(start({ audit: { store: `sqlite:${path}` } })).rejects.toMatchObject(refused);
});

test('a record beside the workspace is fine, and so is a directory whose name only begins like it', async () => {
  for (const file of ['events.db', 'work-events/events.db', '..events.db']) {
    mkdirSync(join(directory, 'work-events'), { recursive: true });
    await using runtime = await start({ events: { store: `sqlite:${join(directory, file)}` } });
    expect((await runtime.run('echo works')).output).toBe('works\n');
  }
});

test('a workspace that stays untouched may hold the record', async () => {
  const store = `sqlite:${join(workspace, 'events.db')}`;
  await using runtime = await start({ workspace: { from: workspace, mode: 'copy' }, events: { store } });
  expect((await runtime.run('echo works')).output).toBe('works\n');
});
