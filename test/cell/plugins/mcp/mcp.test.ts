/** MCP servers in the cell: the reference server of the protocol over every transport, and one that misbehaves. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRuntime, type Runtime } from '../../../../src/index.js';

const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
const everything = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const hostile = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));

const options = {
  cli: { backend: 'cli' as const },
  local: { backend: 'local' as const },
  sandbox: { backend: 'sandbox' as const, readOnly: [checkout] },
};

type Text = { type: string; text: string }[];
const textOf = ({ content }: { content: unknown }) => (content as Text).map(({ text }) => text).join('');

describe.each(Object.keys(options) as (keyof typeof options)[])('the reference server on %s', (backend) => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime(options[backend]);
  });
  afterAll(() => runtime.close());

  async function config(transport: 'stdio' | 'sse' | 'http') {
    if (transport === 'stdio') return { command: 'node', args: [everything, 'stdio'] };
    const mode = transport === 'sse' ? 'sse' : 'streamableHttp';
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const { id } = await runtime.processes.start(['node', everything, mode], { env: { PORT: String(port) } });
    await new Promise<void>((resolve) => {
      const onOutput = ({ text }: { text: string }) =>
        void (/listening|running|port/i.test(text) && resolve());
      runtime.processes.wait(id, { onOutput }).catch(() => {});
    });
    return {
      type: transport,
      url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    } as const;
  }

  test.each(['stdio', 'sse', 'http'] as const)('over %s', async (transport) => {
    const servers = await runtime.mcp.connect({ mcpServers: { [transport]: await config(transport) } });
    expect(servers).toEqual([{ name: transport, state: 'connected', tools: expect.any(Number) }]);
    const tools = (await runtime.mcp.tools()).map(({ name }) => name);
    expect(tools).toContain('echo');
    expect(textOf(await runtime.mcp.call('echo', { message: 'hello' }))).toBe('Echo: hello');
    const image = await runtime.mcp.call('get-tiny-image');
    expect(image.content).toContainEqual(
      expect.objectContaining({
        type: 'image',
        mimeType: 'image/png',
        data: expect.stringMatching(/^iVBOR/),
      }),
    );
    const refused = await runtime.mcp.call('echo', { message: 7 });
    expect(refused.isError).toBe(true);
    await runtime.mcp.disconnect(transport);
    await expect(runtime.mcp.call('echo', { message: 'x' })).rejects.toMatchObject({
      code: 'tool-not-found',
    });
  });
});

describe('a server in the cell', () => {
  async function cell(more: object = {}): Promise<Runtime> {
    const runtime = await createRuntime({ ...options.sandbox, ...more });
    onTestFinished(() => runtime.close());
    return runtime;
  }
  const server = (how: string, env: Record<string, string> = {}) => ({
    command: 'node',
    args: [hostile, how],
    env,
  });

  test('keeps its session between calls, and ends with the connection', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('stays') });
    await runtime.mcp.call('act');
    expect(textOf(await runtime.mcp.call('act'))).toBe('call 2');
    await runtime.mcp.disconnect('one');
    expect((await runtime.run('pgrep -f hostile-server || echo none')).output).toBe('none\n');
  });

  test('is seen by the guard and the record like any other action', async () => {
    const runtime = await cell({
      policy: {
        rules: [
          { action: 'call_tool_mcp', decision: 'deny', reason: 'not today' },
          { action: 'connect_mcp', decision: 'allow' },
        ],
      },
    });
    await runtime.mcp.connect({ one: server('plain') });
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'denied' });
  });

  test('gets secrets by reference, and nobody else sees them', async () => {
    const runtime = await cell({ secrets: { API_KEY: { value: 'k-123456789-secret', reach: 'env' } } });
    const reveal = `process.stdin.on('data', () => {}); console.error('key is ' + process.env.KEY); process.exit(1)`;
    const failed = runtime.mcp.connect({
      one: { command: 'node', args: ['-e', reveal], env: { KEY: '${API_KEY}' } },
    });
    const error = await failed.catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/It wrote: key is (?!undefined|\$)/);
    expect(String(error)).not.toContain('k-123456789-secret');
    const events: unknown[] = [];
    for await (const event of runtime.events) {
      events.push(event);
      if (event.kind === 'error' || event.kind === 'observation') break;
    }
    expect(JSON.stringify(events)).toContain('${API_KEY}');
    expect(JSON.stringify(events)).not.toContain('k-123456789-secret');
  });

  test.each([
    ['quits at once', 'quits', /cannot be used.*It wrote: I do not want to\./s],
    ['describes a tool with 50 MB', 'large', /cannot be used|too great a length/],
    ['describes a tool with 300 KB', 'long-schema', /too great a length/],
    ['lists its tools on pages without end', 'pages', /more than 100 pages/],
  ])('that %s is refused and says why', async (_what, how, message) => {
    const runtime = await cell();
    await expect(runtime.mcp.connect({ one: server(how) })).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
    expect((await runtime.run('pgrep -f hostile-server || echo none')).output).toBe('none\n');
  });

  test('that never answers is given up after its time, at the start and in a call', async () => {
    const runtime = await cell();
    const mute = runtime.mcp.connect({ one: server('mute') }, { timeoutMs: 300 });
    await expect(mute).rejects.toThrow('did not answer in time');
    await runtime.mcp.connect({ two: server('mute-later') });
    const call = runtime.mcp.call('act', {}, { server: 'two', timeoutMs: 300 });
    await expect(call).rejects.toMatchObject({ code: 'timed-out' });
  });

  test('that changes a tool after it was listed is not called until it is listed again', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('turncoat') });
    await runtime.mcp.call('act');
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'tool-changed' });
    await runtime.mcp.tools();
    expect(textOf(await runtime.mcp.call('act'))).toBe('call 2');
  });

  test('that prints what is no message is understood all the same', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('noisy') });
    expect(textOf(await runtime.mcp.call('act'))).toBe('call 1');
  });

  test('that dies in a call is started again for the next one', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('dies') });
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'mcp-failed' });
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'mcp-failed' });
    expect(await runtime.mcp.servers()).toMatchObject([{ name: 'one', state: 'connected' }]);
  });

  test('whose answer is larger than what is taken is told', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('huge-answer') });
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'mcp-failed' });
  });

  test.each([
    ['answers with millions of values', 'values'],
    ['answers with a value nested without end', 'deep'],
    ['tells news without end', 'flood'],
  ])('that %s is let go of, and can be used again', async (_what, how) => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server(how) });
    await expect(runtime.mcp.call('act')).rejects.toMatchObject({ code: 'mcp-failed' });
    expect(await runtime.mcp.servers()).toMatchObject([{ name: 'one', state: 'connected' }]);
  });

  test('has no pattern that could stop its owner, neither for answers nor for arguments', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('pattern') });
    expect(await runtime.mcp.call('act')).toMatchObject({ structuredContent: {} });
    const [act] = await runtime.mcp.tools();
    const text = `${'a'.repeat(60)}!`;
    await expect(act?.execute({ text })).rejects.toMatchObject({
      code: 'invalid-arguments',
      message: expect.stringContaining('must match pattern'),
    });
  });

  test('with a name that another has, too, needs the server said', async () => {
    const runtime = await cell();
    await runtime.mcp.connect({ one: server('plain'), two: server('plain') });
    await expect(runtime.mcp.call('act')).rejects.toThrow('Several MCP servers have a tool "act": one, two.');
    expect((await runtime.mcp.tools()).map(({ name }) => name)).toEqual(['one_act', 'two_act']);
    expect(textOf(await runtime.mcp.call('act', {}, { server: 'two' }))).toBe('call 1');
  });

  test('elsewhere is reached only where the network of the cell reaches', async () => {
    const runtime = await cell();
    const failed = runtime.mcp.connect({ far: { url: 'http://192.0.2.1:8080/mcp' } });
    await expect(failed).rejects.toThrow('whose network may not reach it');
  });

  test('and others that work are kept when one does not', async () => {
    const runtime = await cell();
    const answer = await runtime.execute({
      action: 'connect_mcp',
      servers: { good: server('plain'), bad: { command: 'no-such-program' } },
    });
    expect(answer.servers).toMatchObject([
      { name: 'good', state: 'connected', tools: 1 },
      { name: 'bad', state: 'failed', reason: expect.stringContaining('no-such-program') },
    ]);
  });
});
