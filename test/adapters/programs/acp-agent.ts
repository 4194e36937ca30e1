/** A real connection of the Agent Client Protocol: a scripted agent works through a client that a runtime serves. */
import assert from 'node:assert/strict';
import { acpCapabilities, serveAcp } from '../../../src/adapters/acp.js';
import { createRuntime } from '../../../src/index.js';
import { framework } from '../frameworks.js';

// biome-ignore lint/suspicious/noExplicitAny: the package is not there when this is compiled
const { agent, client, methods, PROTOCOL_VERSION } = framework('@agentclientprotocol/sdk') as any;
// biome-ignore lint/suspicious/noExplicitAny: the same
type Context = any;

await using runtime = await createRuntime({
  backend: 'sandbox',
  policy: { rules: [{ decision: 'deny', command: 'git push *', reason: 'Pushing is for people.' }] },
});
await runtime.write('notes', 'one\ntwo\nthree\n');

const sessionId = 'only';
const said: string[] = [];

/** What a model would ask for, in its order. */
async function work(ask: (method: string, params: object) => Promise<Context>): Promise<void> {
  const { fs, terminal, session } = methods.client;
  const path = `${runtime.workspace}/notes`;
  assert.equal((await ask(fs.readTextFile, { path, line: 2, limit: 1 })).content.trimEnd(), 'two');
  await ask(fs.writeTextFile, { path, content: 'changed é\n' });

  const command = { command: 'cat', args: [path, "it's not there"], env: [{ name: 'LC_ALL', value: 'C' }] };
  const { terminalId } = await ask(terminal.create, command);
  assert.deepEqual(await ask(terminal.waitForExit, { terminalId }), { exitCode: 1, signal: null });
  const { output, truncated, exitStatus } = await ask(terminal.output, { terminalId });
  assert.match(output, /^changed é$/m);
  assert.match(output, /it's not there.*No such file/);
  assert.deepEqual([truncated, exitStatus.exitCode], [false, 1]);
  await ask(terminal.release, { terminalId });
  await assert.rejects(ask(terminal.output, { terminalId }));

  const long = await ask(terminal.create, {
    command: 'printf "xé%.0s" {1..100}; sleep 1000',
    outputByteLimit: 10,
  });
  await ask(terminal.kill, long);
  assert.equal((await ask(terminal.waitForExit, long)).signal, 'SIGKILL');
  assert.ok(Buffer.byteLength((await ask(terminal.output, long)).output) <= 10);

  await assert.rejects(ask(terminal.create, { command: 'git push origin main' }), (error: Context) =>
    JSON.stringify(error.data).includes('Pushing is for people'),
  );
  await assert.rejects(ask(fs.readTextFile, { path: '/nowhere' }), (error: Context) =>
    JSON.stringify(error.data).includes('not-found'),
  );

  const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({
    kind,
    optionId: kind,
    name: kind,
  }));
  for (const title of ['Reads the clock', 'Formats the disk']) {
    const toolCall = { toolCallId: title, title };
    const { outcome } = await ask(session.requestPermission, { toolCall, options });
    said.push(`${title}: ${outcome.optionId}`);
  }
}

const scripted = agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, ({ params }: Context) => {
    assert.deepEqual(params.clientCapabilities.fs, { readTextFile: true, writeTextFile: true });
    return { protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} };
  })
  .onRequest(methods.agent.session.new, () => ({ sessionId }))
  .onRequest(methods.agent.session.prompt, async ({ client: peer }: Context) => {
    await work((method, params) => peer.request(method, { sessionId, ...params }));
    return { stopReason: 'end_turn' };
  });

const app = serveAcp(client({ name: 'workcell' }), runtime, {
  permit: ({ toolCall }) => toolCall.title === 'Reads the clock',
});
await app.connectWith(scripted, async (peer: Context) => {
  await peer.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: acpCapabilities,
  });
  const session = await peer.request(methods.agent.session.new, { cwd: runtime.workspace, mcpServers: [] });
  const prompt = [{ type: 'text', text: 'Work.' }];
  const { stopReason } = await peer.request(methods.agent.session.prompt, { ...session, prompt });
  assert.equal(stopReason, 'end_turn');
});
assert.deepEqual(said, ['Reads the clock: allow_once', 'Formats the disk: reject_once']);
const { processes } = await runtime.execute({ action: 'list_processes' });
assert.deepEqual(
  processes.filter(({ running }) => running),
  [],
);
