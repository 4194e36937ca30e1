import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkcellSandbox } from '../../src/adapters/deepagents.js';
import type { Runtime } from '../../src/index.js';
import { compile, obstacle, patience, runProgram } from './frameworks.js';
import { runtimeWithTool } from './runtime.js';

describe.skipIf(obstacle)(obstacle ?? 'with deepagents', patience, () => {
  test('a deep agent works in the cell', () => {
    expect(runProgram('deepagents-agent.ts')).toEqual({ status: 0, output: '' });
  });

  test('the shape is the one that deepagents declares', () => {
    const source = `
      import type { SandboxBackendProtocolV2 } from 'deepagents';
      import type { Runtime } from 'workcell';
      import { WorkcellSandbox } from 'workcell/adapters/deepagents';
      declare const runtime: Runtime;
      export const backend: SandboxBackendProtocolV2 = new WorkcellSandbox(runtime);`;
    expect(compile(source)).toBe('');
  });
});

describe('the backend', () => {
  let runtime: Runtime;
  let backend: WorkcellSandbox;
  const at = (name: string) => `${runtime.workspace}/${name}`;
  beforeAll(async () => {
    runtime = await runtimeWithTool();
    backend = new WorkcellSandbox(runtime);
    await backend.write(at('top.txt'), 'a.b\naxb\n');
    await backend.write(at('deep/er.txt'), '1\n2\n3\n');
  });
  afterAll(() => runtime.close());

  test('a command gives both streams in one, and keeps no state', async () => {
    const ran = await backend.execute('cd /; echo out; echo err >&2; exit 4');
    expect(ran).toEqual({ output: 'out\nerr\n', exitCode: 4, truncated: false });
    expect((await backend.execute('pwd')).output).toBe(`${runtime.workspace}\n`);
  });

  test('a part of a file tells where the next one begins', async () => {
    expect(await backend.read(at('deep/er.txt'), 0, 2)).toMatchObject({ content: '1\n2\n', nextOffset: 2 });
    const rest = await backend.read(at('deep/er.txt'), 2, 2);
    expect(rest).toMatchObject({ content: '3\n', totalLines: 3 });
    expect(rest).not.toHaveProperty('nextOffset');
  });

  test('text is told as text, whatever its type is', async () => {
    await backend.write(at('data.xml'), '<a/>\n');
    await backend.write(at('data.yaml'), 'a: 1\n');
    for (const name of ['data.xml', 'data.yaml', 'top.txt'])
      expect(await backend.read(at(name))).toMatchObject({ mimeType: expect.stringMatching(/^text\//) });
    expect(await backend.readRaw(at('data.yaml'))).toMatchObject({ data: { content: 'a: 1\n' } });
    await backend.delete(at('data.xml'));
  });

  test('a pattern without a slash finds only what is in the folder, one with stars what is below', async () => {
    expect(await backend.glob('*.txt')).toMatchObject({ files: [{ path: at('top.txt'), is_dir: false }] });
    const below = await backend.glob('**/*.txt');
    expect(below).toMatchObject({ files: [{ path: at('deep/er.txt') }, { path: at('top.txt') }] });
    expect(await backend.glob('*.txt', at('deep'))).toMatchObject({ files: [{ path: at('deep/er.txt') }] });
  });

  test('text is searched for as it is, up to a count', async () => {
    const found = [{ path: at('top.txt'), line: 1, text: 'a.b' }];
    expect(await backend.grep('a.b')).toEqual({ matches: found, truncated: false });
    expect(await backend.grep('a', null, '*.txt', 1)).toEqual({ matches: found, truncated: true });
  });

  test('failures are values', async () => {
    expect(await backend.ls(at('none'))).toEqual({ error: expect.stringMatching(/^not-found: /) });
    expect(await backend.edit(at('top.txt'), 'absent', '')).toEqual({
      error: expect.stringMatching(/^edit-no-match: /),
    });
    expect(await backend.delete(at('none'))).toEqual({ error: expect.stringMatching(/^not-found: /) });
  });

  test('files go in and out, each with its own outcome', async () => {
    const bytes = Uint8Array.from([0, 255]);
    expect(await backend.uploadFiles([[at('new/bytes'), bytes]])).toEqual([
      { path: at('new/bytes'), error: null },
    ]);
    expect(await backend.downloadFiles([at('new/bytes'), at('none'), at('new')])).toEqual([
      { path: at('new/bytes'), content: bytes, error: null },
      { path: at('none'), content: null, error: 'file_not_found' },
      { path: at('new'), content: null, error: 'is_directory' },
    ]);
    await backend.execute('truncate -s 8T endless');
    expect(await backend.downloadFiles([at('endless')])).toEqual([
      { path: at('endless'), content: null, error: 'invalid_path' },
    ]);
    expect(await backend.read(at('new/bytes'))).toMatchObject({ content: bytes });
    expect(await backend.delete(at('new'))).toEqual({ path: at('new'), filesUpdate: null });
  });
});
