/** Network rules of cells that live in a keeper: the gateway is there, and who works in the cell has a hold on it. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NetworkQuestion, WorkcellEvent } from '../../src/index.js';
import { eventually, refusal, sh } from '../../src/testing/contract/given.js';
import { attach, create, startOwner } from './kept/suite.js';

const held = { backend: 'sandbox', keeper: true, config: false } as const;
const here = { backend: 'sandbox', config: false } as const;
const directory = mkdtempSync(join(tmpdir(), 'kept-'));
let lastToken: string | undefined;
const server = createServer((request, response) => {
  if (request.url === '/token') {
    lastToken = String(request.headers['x-token']);
    response.end(`token ${lastToken}\n`);
  } else if (request.url === '/held') response.write('begun\n');
  else response.end('hello\n');
});
let place = '';

beforeAll(async () => {
  process.env.XDG_RUNTIME_DIR = directory;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
  delete process.env.XDG_RUNTIME_DIR;
});

const hosts = () => ({ 'web.test': place, 'other.test': place, 'held.test': place, 'asked.test': place });
const get = (host: string) => `curl -sS http://${host}/`;

async function untilEvent(
  runtime: Awaited<ReturnType<typeof create>>,
  outcome: string,
  host: string,
): Promise<Extract<WorkcellEvent, { kind: 'network' }>> {
  for await (const event of runtime.events.since(0, { kinds: ['network'] }))
    if (event.kind === 'network' && event.network.outcome === outcome && 'host' in event.network)
      if (event.network.host === host) return event;
  throw new Error('the record ended');
}

test('rules hold in a keeper, change while the cell runs, and are recorded', async () => {
  const runtime = await create({ ...held, network: { allow: ['web.test', 'held.test'], hosts: hosts() } });
  expect(await sh(runtime, get('web.test'))).toBe('hello\n');
  const refused = await runtime.run(get('other.test'));
  expect(JSON.parse(refused.output)).toMatchObject({ reason: 'no rule allows this host' });
  expect(refused.notice).toContain('other.test:80');
  await runtime.network.allow('other.test');
  expect(runtime.network.rules()).toMatchObject({ allow: ['web.test', 'held.test', 'other.test'] });
  expect(await sh(runtime, get('other.test'))).toBe('hello\n');
  const running = runtime.run('curl -fsS http://held.test/held');
  await untilEvent(runtime, 'opened', 'held.test');
  await runtime.network.deny('held.test');
  expect((await running).exitCode).not.toBe(0);
  expect(JSON.parse((await runtime.run(get('held.test'))).output)).toMatchObject({
    reason: 'a rule denies it',
  });
  expect((await untilEvent(runtime, 'refused', 'other.test')).network).toMatchObject({ port: 80 });
  expect(await runtime.stats()).toMatchObject({ network: { refused: 2 } });
  await Promise.all([runtime.network.allow('a.test'), runtime.network.allow('b.test')]);
  expect(runtime.network.rules()?.allow).toEqual(['web.test', 'held.test', 'other.test', 'a.test', 'b.test']);
  await refusal(runtime.network.set({ requests: [{ host: 'a.test' }] }), 'invalid-config');
});

test('questions come to who works in the cell', async () => {
  const asked: NetworkQuestion[] = [];
  const runtime = await create({
    ...held,
    network: { ask: true, hosts: hosts() },
    askNetwork: (question) => {
      asked.push(question);
      return question.host === 'asked.test' ? 'cell' : 'deny';
    },
  });
  expect(await sh(runtime, get('asked.test'))).toBe('hello\n');
  expect((await runtime.run(get('other.test'))).output).toContain('asked about and denied');
  expect(asked).toMatchObject([
    { host: 'asked.test', port: 80, commands: [get('asked.test')] },
    { host: 'other.test' },
  ]);
  expect(runtime.network.rules()?.allow).toEqual(['asked.test:80']);
});

test('the gateway outlives its owner: rules go on, nobody is asked, and the next owner has the record', async () => {
  const workspace = mkdtempSync(join(directory, 'workspace-'));
  const { child, id } = await startOwner({
    ...here,
    keepAlive: true,
    workspace,
    network: { allow: ['web.test'], ask: true, hosts: hosts() },
    events: { store: `sqlite:${directory}/events.db` },
  });
  const first = await attachAfterKill(child, id);
  await first.processes.start([
    'sh',
    '-c',
    'until [ -e go ]; do sleep 0.05; done; curl -s web.test >web; curl -s other.test >other; touch done',
  ]);
  await first.detach();
  writeFileSync(join(workspace, 'go'), '');
  await eventually(() => existsSync(join(workspace, 'done')), 'the cell has fetched');
  expect(readFileSync(join(workspace, 'web'), 'utf8')).toBe('hello\n');
  expect(readFileSync(join(workspace, 'other'), 'utf8')).toContain('nobody is there to ask');
  const config = join(directory, 'denies.toml');
  writeFileSync(config, '[network]\ndeny = ["web.test"]\n', { mode: 0o600 });
  const second = await attach(id, { backend: 'sandbox', config });
  expect((await untilEvent(second, 'closed', 'web.test')).network).toMatchObject({ port: 80 });
  await untilEvent(second, 'refused', 'other.test');
  expect(second.network.rules()).toMatchObject({ allow: ['web.test'], deny: ['web.test'] });
  await second.network.set({ allow: ['web.test', 'other.test'], hosts: hosts() });
  expect((await second.run(get('web.test'))).output).toContain('a rule denies it');
  expect(await sh(second, get('other.test'))).toBe('hello\n');
  await second.close();
});

test('a killed keeper takes the cell and its way out along', async () => {
  const runtime = await create({ ...held, network: { allow: ['web.test'], hosts: hosts() } });
  expect(await sh(runtime, get('web.test'))).toBe('hello\n');
  const gone = runtime.run('curl -sS http://web.test/held');
  await untilEvent(runtime, 'opened', 'web.test');
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    if (isKeeper(pid)) process.kill(Number(pid), 'SIGKILL');
  await refusal(gone, 'runtime-disconnected');
  await refusal(runtime.network.allow('a.test'), 'runtime-disconnected');
});

test('secrets that stay outside come from who works in the cell, and from nobody else', async () => {
  const bound = (value: string, names = ['http://web.test']) => ({
    secrets: { TOKEN: { value, reach: 'network', hosts: names } } as const,
  });
  const ask = 'curl -sS -H "X-Token: $TOKEN" http://web.test/token';
  const network = { allow: ['web.test'], hosts: hosts() };
  const workspace = mkdtempSync(join(directory, 'workspace-'));
  const first = await create({ ...held, keepAlive: true, workspace, network, ...bound('the first value') });
  expect(await sh(first, 'printenv TOKEN')).toMatch(/^workcell_secret_/);
  await sh(first, ask);
  expect(lastToken).toBe('the first value');
  await first.processes.start([
    'sh',
    '-c',
    `until [ -e go ]; do sleep 0.05; done; ${ask} >alone; touch done`,
  ]);
  await first.detach();
  lastToken = undefined;
  writeFileSync(join(workspace, 'go'), '');
  await eventually(() => existsSync(join(workspace, 'done')), 'the cell has asked');
  expect(readFileSync(join(workspace, 'alone'), 'utf8')).toContain('the secret TOKEN has no value');
  for (const [given, token] of [
    [bound('the second value'), 'the second value'],
    [bound('the third value', ['http://web.test', 'http://other.test']), undefined],
    [{}, undefined],
  ] as const) {
    lastToken = undefined;
    const next = await attach(first.id, { ...here, ...given });
    const { output } = await next.run(ask);
    expect(lastToken).toBe(token);
    if (token === undefined) expect(output).toContain('the secret TOKEN has no value');
    await next.detach();
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      expect(readFileSync(join(entry.parentPath, entry.name), 'latin1')).not.toMatch(/first|second value/);
  await (await attach(first.id, here)).close();
});

async function attachAfterKill(child: Awaited<ReturnType<typeof startOwner>>['child'], id: string) {
  child.kill('SIGKILL');
  await once(child, 'exit');
  return attach(id, here);
}

/** One of this test's own. */
function isKeeper(pid: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('keeper-main') &&
      readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`XDG_RUNTIME_DIR=${directory}`)
    );
  } catch {
    return false;
  }
}

test('what the settings deny is refused where a cell has no rules that could hold it', async () => {
  const config = join(directory, 'denies.toml');
  writeFileSync(config, '[network]\ndeny = ["other.test"]\n', { mode: 0o600 });
  const open = await create({ ...held, keepAlive: true, network: 'host' });
  const closed = await create({ ...held, keepAlive: true, network: 'none' });
  await open.detach();
  await closed.detach();
  await refusal(attach(open.id, { backend: 'sandbox', config }), 'capability-unsupported');
  await (await attach(closed.id, { backend: 'sandbox', config })).close();
  await (await attach(open.id, here)).close();
});

test('what the settings say that all is within holds for a cell that runs already, and for good', async () => {
  const within = ['web.test', '127.0.0.1:*'];
  const settings = (name: string, rules: string[], deny: string[] = []) => {
    const config = join(directory, `${name}.toml`);
    const said = `within = ${JSON.stringify(rules)}\ndeny = ${JSON.stringify(deny)}`;
    writeFileSync(config, `[network]\n${said}\n`, { mode: 0o600 });
    return { backend: 'sandbox', config } as const;
  };
  const first = await create({
    ...held,
    keepAlive: true,
    network: { allow: ['web.test', 'other.test'], hosts: hosts() },
  });
  const open = await create({ ...held, keepAlive: true, network: 'host' });
  expect(await sh(first, get('other.test'))).toBe('hello\n');
  await first.detach();
  await open.detach();
  await refusal(attach(open.id, settings('within', within)), 'capability-unsupported');
  const second = await attach(first.id, settings('within', within));
  expect(second.network.rules()?.within).toEqual(within);
  expect((await second.run(get('other.test'))).output).toContain('beyond what the rules');
  expect(await sh(second, get('web.test'))).toBe('hello\n');
  await second.detach();
  const { message } = await refusal(
    attach(first.id, settings('other', ['other.test'], ['web.test'])),
    'invalid-config',
  );
  expect(message).toContain(`was started with network.within [${within.join(', ')}]`);
  await (await attach(first.id, settings('turned', [...within].reverse()))).detach();
  const third = await attach(first.id, here);
  expect(third.network.rules()).toMatchObject({ within, deny: [] });
  await third.network.allow('**');
  expect((await third.run(get('other.test'))).output).toContain('beyond what the rules');
  await third.close();
  await (await attach(open.id, here)).close();
});
