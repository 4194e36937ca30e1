/** The verbs of plugins with the trusted side switched on: each is judged, and no secret shows in the record. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CreateRuntimeOptions, createRuntime, type Runtime, type WorkcellEvent } from '../../../src/index.js';
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
  async function given(): Promise<Runtime> {
    const workspace = mkdtempSync(join(tmpdir(), 'trusted-verbs-'));
    cpSync(pages, workspace, { recursive: true });
    const runtime = await createRuntime({
      backend: 'sandbox',
      config: false,
      workspace,
      readOnly: [checkout],
      ...dimension.options(),
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
    expect(page.failure).toBeUndefined();
    await runtime.execute({ action: 'browse_interactive', code: 'scroll(0, 100)' });
  });

  test('an MCP server in the cell is connected, asked and let go', async () => {
    const runtime = await given();
    await runtime.mcp.connect({ mcpServers: { own: { command: 'node', args: [everything, 'stdio'] } } });
    expect((await runtime.mcp.tools()).map(({ name }) => name)).toContain('echo');
    const { content } = await runtime.mcp.call('echo', { message: 'hello' });
    expect(JSON.stringify(content)).toContain('Echo: hello');
    await runtime.mcp.disconnect('own');
  });

  test('a kernel keeps its state', async () => {
    const runtime = await given();
    await runtime.runCode('kept = 6 * 7');
    expect((await runtime.runCode('kept')).text).toContain('42');
  });
});
