import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkcellMastraSandbox } from '../../src/adapters/mastra.js';
import type { Runtime } from '../../src/index.js';
import { compile, obstacle, patience, runProgram } from './frameworks.js';
import { runtimeWithTool } from './runtime.js';

describe.skipIf(obstacle)(obstacle ?? 'with Mastra', patience, () => {
  test('the tool of a workspace runs in the cell', () => {
    expect(runProgram('mastra-workspace.ts')).toEqual({ status: 0, output: '' });
  });

  test('the shape is the one that Mastra declares', () => {
    const source = `
      import type { WorkspaceSandbox } from '@mastra/core/workspace';
      import type { Runtime } from 'workcell';
      import { WorkcellMastraSandbox } from 'workcell/adapters/mastra';
      declare const runtime: Runtime;
      export const sandbox: WorkspaceSandbox = new WorkcellMastraSandbox(runtime);`;
    expect(compile(source)).toBe('');
  });
});

describe('the sandbox', () => {
  let runtime: Runtime;
  let sandbox: WorkcellMastraSandbox;
  beforeAll(async () => {
    runtime = await runtimeWithTool();
    sandbox = new WorkcellMastraSandbox(runtime);
  });
  afterAll(() => runtime.close());

  test('arguments reach the command as they are, output comes as it is made', async () => {
    const seen: string[] = [];
    const ended = await sandbox.executeCommand('printf "%s|"', ["it's", '$HOME', 'a b'], {
      onStdout: (text) => seen.push(text),
    });
    expect(ended).toMatchObject({ success: true, exitCode: 0, stdout: "it's|$HOME|a b|" });
    expect(seen.join('')).toBe(ended.stdout);
  });

  test('a directory, variables, a time limit and a signal', async () => {
    await sandbox.writeFiles([{ path: 'sub/run', content: '#!/bin/sh\necho "$WORD"\n', mode: 0o755 }]);
    const ran = await sandbox.executeCommand('./run', [], {
      cwd: 'sub',
      env: { WORD: 'here', NOT: undefined },
    });
    expect(ran).toMatchObject({ stdout: 'here\n', timedOut: false });
    const late = await sandbox.executeCommand('sleep 60', [], { timeout: 100 });
    expect(late).toMatchObject({ success: false, timedOut: true });
    const stopped = await sandbox.executeCommand('sleep 60', [], { abortSignal: AbortSignal.timeout(100) });
    expect(stopped).toMatchObject({ success: false, exitCode: 137, killed: true });
  });

  test('its status is that of the runtime', async () => {
    const other = await runtimeWithTool();
    const its = new WorkcellMastraSandbox(other);
    expect(its.getInfo()).toMatchObject({ id: other.id, provider: 'workcell', status: 'running' });
    await other.close();
    expect(its.isReady()).toBe(false);
  });
});
