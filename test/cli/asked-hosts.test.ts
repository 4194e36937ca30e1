/** Questions about hosts, answered from another process. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRuntime, type NetworkRules, type Runtime } from '../../src/index.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { changes } from '../../src/runtime/events/store-changes.js';
import { workcell } from './workcell.js';

interface Asked {
  readonly id: string;
  readonly kind: string;
  readonly action: object;
  readonly expiresAt: number;
  readonly askedAt: number;
}

async function openDesk() {
  const directory = mkdtempSync(join(tmpdir(), 'asked-hosts-'));
  const config = join(directory, 'workcell.toml');
  writeFileSync(config, '', { mode: 0o600 });
  const store = `sqlite:${directory}/events.db`;
  const env = { XDG_STATE_HOME: join(directory, 'state'), XDG_CONFIG_HOME: join(directory, 'config') };
  vi.stubEnv('XDG_CONFIG_HOME', env.XDG_CONFIG_HOME);
  const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cli = async (...args: string[]) => {
    const { stdout, stderr, exitCode } = await workcell(args, { env });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  return {
    env,
    cli,
    events: (...args: string[]) => cli('events', ...args, '--store', store),
    start: (
      rules: NetworkRules,
      from: string | false = config,
      more: { rememberHosts?: boolean } = {},
    ): Promise<Runtime> =>
      createRuntime({
        ...more,
        backend: 'sandbox',
        config: from,
        events: { store },
        network: { ...rules, hosts: { 'one.test': place, 'two.test': place } },
      }),
    /** The next question of a runtime. */
    async question({ id }: Runtime): Promise<Asked> {
      const opened = await openEventStore(store);
      try {
        for await (const _ of changes(opened, id)) {
          const [message] = await opened.mailbox.list('confirmation', id);
          if (message !== undefined) return JSON.parse(message.body) as Asked;
        }
        throw new Error('no question came');
      } finally {
        await opened.close();
      }
    },
  };
}

const fetchFrom = async (runtime: Runtime, host: string) =>
  (await runtime.run(`curl -sS http://${host}/`)).output;

test('another process lists and answers them: for once, for good, and takes it back', async () => {
  const { start, cli, events, question, env } = await openDesk();
  await using runtime = await start({ ask: true });
  const first = fetchFrom(runtime, 'one.test');
  const asked = await question(runtime);
  expect(asked).toMatchObject({
    kind: 'host',
    action: { host: 'one.test', port: 80, commands: ['curl -sS http://one.test/'] },
  });
  expect(asked.expiresAt - asked.askedAt).toBe(120_000);
  expect(await events('--pending')).toMatch(/reach one\.test:80 curl/);
  await events('--approve', asked.id, '--who', 'dora');
  expect(await first).toBe('here');

  const second = fetchFrom(runtime, 'one.test');
  await events('--deny', (await question(runtime)).id);
  expect(await second).toContain('asked about and denied');
  expect(await events('--pending')).toContain('Nothing waits');

  const third = fetchFrom(runtime, 'two.test');
  await events('--approve', (await question(runtime)).id, '--who', 'dora', '--scope', 'always');
  expect(await third).toBe('here');
  expect(await fetchFrom(runtime, 'two.test')).toBe('here');
  expect(statSync(join(env.XDG_CONFIG_HOME, 'workcell/allowed-hosts')).mode & 0o777).toBe(0o700);

  await using other = await start({ ask: true });
  expect(await fetchFrom(other, 'two.test')).toBe('here');
  await using unasked = await start({});
  expect(await fetchFrom(unasked, 'two.test')).toContain('no rule allows this host');
  // A program that runs cells for others does not pass on what its user allowed.
  await using ofOthers = await start({ ask: true }, undefined, { rememberHosts: false });
  const theirs = fetchFrom(ofOthers, 'two.test');
  await events('--deny', (await question(ofOthers)).id);
  expect(await theirs).toContain('asked about and denied');
  await using denied = await start({ ask: true, deny: ['two.test'] });
  expect(await fetchFrom(denied, 'two.test')).toContain('a rule denies it');

  expect(JSON.parse(await cli('hosts', '--json'))).toMatchObject({ host: 'two.test', port: 80, who: 'dora' });
  expect(await cli('hosts', '--forget', 'two.test:443')).toContain('Was not allowed');
  expect(await cli('hosts', '--forget', 'two.test')).toContain('No longer allowed');
  expect(await cli('hosts')).toContain('No host is allowed');
  await using later = await start({ ask: true });
  const fourth = fetchFrom(later, 'two.test');
  await events('--deny', (await question(later)).id);
  expect(await fourth).toContain('asked about and denied');
});

test('without settings, always is until the cell ends', async () => {
  const { start, cli, events, question } = await openDesk();
  await using runtime = await start({ ask: true }, false);
  const first = fetchFrom(runtime, 'one.test');
  await events('--approve', (await question(runtime)).id, '--scope', 'always');
  expect(await first).toBe('here');
  expect(await fetchFrom(runtime, 'one.test')).toBe('here');
  expect(await cli('hosts')).toContain('No host is allowed');
});

test('a question whose cell has ended no longer waits', async () => {
  const { start, events, question } = await openDesk();
  const runtime = await start({ ask: true });
  const first = fetchFrom(runtime, 'one.test').catch(() => 'ended');
  const { id } = await question(runtime);
  await runtime.close();
  await first;
  expect(await events('--pending')).toContain('Nothing waits');
  await expect(events('--approve', id)).rejects.toThrow('no open confirmation');
});
