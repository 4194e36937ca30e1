/** The verbs of plugins with the trusted side switched on: each is judged, and no secret shows in the record. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  agentSkills,
  type CreateRuntimeOptions,
  createRuntime,
  type Runtime,
  type WorkcellEvent,
} from '../../../src/index.js';
import { guardedVerbs, secretive } from '../../contract/dimensions.js';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const pages = fileURLToPath(new URL('browser/site', import.meta.url));
const everything = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);

describe.each([
  ['guards', guardedVerbs],
  ['secrets', secretive],
] as const)('with %s', (_name, dimension) => {
  async function given(options: Partial<CreateRuntimeOptions> = {}): Promise<Runtime> {
    const workspace = mkdtempSync(join(tmpdir(), 'trusted-verbs-'));
    cpSync(pages, workspace, { recursive: true });
    const runtime = await createRuntime({
      backend: 'sandbox',
      config: false,
      workspace,
      readOnly: [checkout],
      ...dimension.options(),
      ...options,
    } as CreateRuntimeOptions);
    const events: WorkcellEvent[] = [];
    const recording = (async () => {
      for await (const event of runtime.events) events.push(event);
    })();
    onTestFinished(async () => {
      await dimension.look?.(runtime);
      await runtime.close();
      await recording;
      expect(events.length).toBeGreaterThan(0);
      dimension.check(events);
      rmSync(workspace, { recursive: true, force: true });
    });
    return runtime;
  }

  test('the browser shows a page and acts on it', async () => {
    const runtime = await given();
    const port = Number((await runtime.run('python3 server.py')).output);
    const page = await runtime.browse(`http://localhost:${port}/plain.html`);
    expect(page.url).toContain(`:${port}/plain.html`);
    await runtime.execute({ action: 'browse_interactive', code: 'scroll(0, 100)' });
    expect(await runtime.browser.cdpUrl()).toMatch(/^ws:/);
  });

  test('an MCP server in the cell is connected, asked and let go', async () => {
    const runtime = await given();
    await runtime.mcp.connect({ mcpServers: { own: { command: 'node', args: [everything, 'stdio'] } } });
    expect((await runtime.mcp.tools()).map(({ name }) => name)).toContain('echo');
    const { content } = await runtime.mcp.call('echo', { message: 'hello' });
    expect(JSON.stringify(content)).toContain('Echo: hello');
    await runtime.mcp.disconnect('own');
  });

  test('a kernel keeps its state, and is listed and restarted', async () => {
    const runtime = await given();
    await runtime.runCode('kept = 6 * 7');
    expect((await runtime.runCode('kept')).text).toContain('42');
    expect((await runtime.execute({ action: 'run_ipython', code: 'kept' })).content).toContain('42');
    const { contexts } = await runtime.execute({ action: 'list_contexts' });
    expect(contexts).toMatchObject([{ context: 'default', state: 'idle' }]);
    await runtime.execute({ action: 'control_context', operation: 'restart' });
    expect((await runtime.runCode('kept')).status).toBe('error');
  });

  test('the skills of agents edit and look, in a kernel and as tools', async () => {
    const startup = 'from agentskills import *';
    const runtime = await given({
      plugins: [{ name: 'jupyter', options: { startup } }, 'agent-skills', 'tools'],
    });
    await runtime.write('notes.txt', 'one\ntwo\n');
    expect((await runtime.runCode('open_file("notes.txt")')).text).toContain('2|two');
    const tools = runtime.add(await agentSkills()).getTools();
    const path = `${runtime.workspace}/notes.txt`;
    const search = tools.find(({ name }) => name === 'search_file');
    expect(await search?.execute({ search_term: 'two', file_path: path })).toContain('Line 2: two');
    await runtime.reset();
    expect(await search?.execute({ search_term: 'one', file_path: path })).toContain('Line 1: one');
  });

  test('a Python script of the owner runs', async () => {
    const runtime = await given();
    const folder = mkdtempSync(join(tmpdir(), 'trusted-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(folder, 'script.py');
    writeFileSync(script, 'import sys\nprint(sys.argv[1:])\n');
    const { stdout, exitCode } = await runtime.execPythonFile(script, { args: ['a b'] });
    expect([stdout, exitCode]).toEqual(["['a b']\n", 0]);
  });

  test('an editor is opened, told of and stopped, and a repository sets itself up', async () => {
    const runtime = await given();
    expect((await fetch(await runtime.vscode.url())).status).toBe(200);
    expect(await runtime.vscode.status()).toEqual({ running: true });
    await runtime.vscode.stop();
    expect(await runtime.vscode.status()).toEqual({ running: false });
    await runtime.write('.workcell/setup.sh', 'export READY=yes\n');
    await runtime.git.prepare();
    expect((await runtime.run('echo "$READY"')).output).toBe('yes\n');
    await runtime.write('.workcell/microagents/repo.md', '---\nname: repo\ntype: repo\n---\nBe kind.\n');
    await runtime.microagents.load();
  });
});
