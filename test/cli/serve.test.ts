/** `workcell serve` as a process that we kill. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { start, workcell } from './workcell.js';

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
const key = 'an-operator-key-of-the-test';
const env = { XDG_RUNTIME_DIR: folder };
const config = join(folder, 'service.toml');
const keyFile = join(folder, 'key');

writeFileSync(keyFile, key, { mode: 0o600 });
writeFileSync(
  config,
  `
backend = "sandbox"
[events]
store = "sqlite:${join(folder, 'events.db')}"
[service]
store = "sqlite:${join(folder, 'service.db')}"
starts_at_once = 2
`,
  { mode: 0o600 },
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serve() {
  const words = ['serve', '--config', config, '--listen', '127.0.0.1:0', '--token-file', keyFile];
  const server = start(words, { env });
  await server.printed('listening on http://127.0.0.1:');
  const url = /listening on (\S+)/.exec(server.text())?.[1] ?? '';
  return { ...server, url, client: new ServiceClient({ url, apiKey: key }) };
}

test('a service that is killed while it makes cells loses none and doubles none', async () => {
  const first = await serve();
  const names = Array.from({ length: 12 }, (_, index) => `cell-${index}`);
  const create = (client: ServiceClient, name: string) => client.create({ name }, { idempotencyKey: name });
  const acknowledged = new Map<string, string>();
  const asked = names.map(async (name) => {
    const cell = await create(first.client, name);
    acknowledged.set(name, cell.id);
    if (acknowledged.size === 4) first.child.kill('SIGKILL');
  });
  await Promise.allSettled(asked);
  await first.ended;
  expect(acknowledged.size).toBeGreaterThanOrEqual(4);
  expect(acknowledged.size).toBeLessThan(names.length);

  const second = await serve();
  const { client, url } = second;
  const ids = new Set<string>();
  for (const name of names) {
    const { id, state } = await create(client, name);
    if (acknowledged.has(name)) expect(id).toBe(acknowledged.get(name));
    expect(state).toBe('running');
    ids.add(id);
  }
  expect(ids.size).toBe(names.length);
  const kept = await workcell(['cells', '--backend', 'sandbox', '--no-config', '--json'], { env });
  const found = JSON.parse(kept.stdout) as { id: string }[];
  expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());

  const place = ['--backend', 'service', '--url', url, '--api-key-file', keyFile];
  const run = await workcell(['run', '--no-config', ...place, 'echo by the command line'], { env });
  expect(run).toMatchObject({ stdout: 'by the command line\n', exitCode: 0 });

  const status = await workcell(['serve', 'status', '--url', url, '--api-key-file', keyFile], { env });
  expect(status).toMatchObject({
    stdout: expect.stringMatching(/^cells +0 starting, 12 running/m),
    exitCode: 0,
  });

  for (const name of names) await client.remove(name);
  const after = await workcell(['cells', '--backend', 'sandbox', '--no-config', '--json'], { env });
  expect(JSON.parse(after.stdout)).toEqual([]);
  second.child.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ exitCode: 0 });
});

/** What a client gets for an action: its outcome, or that the service cannot say it any more. */
type Outcome = 'done' | 'unknown';

test('a service that is killed under load loses nothing that it acknowledged, and runs no action twice', async () => {
  let server = await serve();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const cells = await Promise.all(Array.from({ length: 3 }, () => server.client.create()));
  const perCell = 30;
  const outcomes = new Map<string, Outcome>();
  let kills = 0;
  let restarted = Promise.resolve();
  const kill = async () => {
    server.child.kill('SIGKILL');
    await server.ended;
    server = await serve();
  };

  /** One action, under its key for as often as it takes to get an answer. */
  const act = async (cell: string, number: number) => {
    const command = `echo ${number} >> log`;
    for (;;) {
      await restarted;
      const body = JSON.stringify({ action: 'run', command, session: `s${number % 3}` });
      const keyed = { ...headers, 'idempotency-key': `${cell}-${number}` };
      const path = `${server.url}/v1/cells/${cell}/v1/actions`;
      const answer = await fetch(path, { method: 'POST', headers: keyed, body })
        .then((response) => response.json() as Promise<{ exitCode?: number; error?: { code: string } }>)
        .catch(() => undefined);
      if (answer === undefined) continue;
      if (answer.error?.code === 'output-not-found') return void outcomes.set(`${cell} ${number}`, 'unknown');
      if (answer.exitCode !== 0) throw new Error(JSON.stringify(answer));
      outcomes.set(`${cell} ${number}`, 'done');
      if (outcomes.size > (kills + 1) * 30 && kills < 2) {
        kills++;
        restarted = kill();
      }
      return;
    }
  };

  /** Follows a record over the ends of the service, until it has seen the last action. */
  const follow = async (cell: string) => {
    const seen: { id: number; kind: string; cause?: number; text: string }[] = [];
    for (;;) {
      await restarted;
      const path = `${server.url}/v1/records/${cell}/follow?after=${seen.at(-1)?.id ?? 0}`;
      const response = await fetch(path, { headers }).catch(() => undefined);
      const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ''; reader !== undefined; ) {
        const part = await reader.read().catch(() => undefined);
        if (part === undefined || part.done) break;
        const lines = (rest + part.value).split('\n');
        rest = lines.pop() ?? '';
        for (const text of lines) if (text !== '') seen.push({ ...JSON.parse(text), text });
        if (!seen.some(({ kind, text }) => kind === 'action' && text.includes('"cat log"'))) continue;
        await reader.cancel();
        return seen;
      }
    }
  };

  const following = cells.map(({ id }) => follow(id));
  await Promise.all(
    cells.flatMap(({ id }) =>
      [0, 1, 2].map(async (lane) => {
        for (let number = lane; number < perCell; number += 3) await act(id, number);
      }),
    ),
  );
  await restarted;
  expect(kills).toBe(2);
  expect(outcomes.size).toBe(cells.length * perCell);
  for (const [index, { id }] of cells.entries()) {
    const response = await fetch(`${server.url}/v1/cells/${id}/v1/actions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ action: 'run', command: 'cat log' }),
    });
    const log = ((await response.json()) as { output: string }).output.trim().split('\n');
    const events = (await following[index]) ?? [];
    expect(events.map((event) => event.id)).toEqual(events.map((_, at) => at + 1));
    for (let number = 0; number < perCell; number++) {
      const outcome = outcomes.get(`${id} ${number}`);
      const times = log.filter((line) => line === `${number}`).length;
      const asked = events.filter(
        ({ kind, text }) => kind === 'action' && text.includes(`"echo ${number} >> log"`),
      );
      const answered = events.filter(({ kind, cause }) => kind === 'observation' && cause === asked[0]?.id);
      // What nobody can say any more may have run, and ran no more than once.
      expect([number, outcome, times]).toEqual([
        number,
        outcome,
        outcome === 'done' ? 1 : Math.min(times, 1),
      ]);
      if (outcome === 'done') expect([number, asked.length, answered.length]).toEqual([number, 1, 1]);
    }
  }
  for (const { id } of cells) await server.client.remove(id);
  server.child.kill('SIGTERM');
  await server.ended;
}, 120_000);
