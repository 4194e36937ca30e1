/** Sandboxes that live in a keeper: kept, served to others, and apart from the process of their owner. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CreateRuntimeOptions, listCells, type Runtime } from '../../src/index.js';
import { eventually, refusal, sh, uniqueWord } from '../../src/testing/contract/given.js';
import { attach, create, keptCellSuite, startOwner } from './kept/suite.js';

const isRoot = process.getuid?.() === 0;
const kept = { backend: 'sandbox', keepAlive: true, config: false } as const;
const held = { backend: 'sandbox', keeper: true, config: false } as const;
const here = { backend: 'sandbox', config: false } as const;

/** The user's own directory, apart from that of other runs on this machine. */
const directory = mkdtempSync(join(tmpdir(), 'kept-'));

beforeAll(() => {
  process.env.XDG_RUNTIME_DIR = directory;
});

afterAll(() => {
  rmSync(directory, { recursive: true });
  delete process.env.XDG_RUNTIME_DIR;
});

keptCellSuite('sandbox', {
  options: { backend: 'sandbox' },
  place: {},
  tier: 'namespace',
  labels: undefined,
});

test.runIf(isRoot)('all of it holds for a plain user too', { timeout: 600_000 }, () => {
  const user = 'workcell-test';
  try {
    execFileSync('id', [user], { stdio: 'ignore' });
  } catch {
    execFileSync('useradd', ['--create-home', user]);
  }
  const argv = ['node_modules/vitest/vitest.mjs', 'run', '--configLoader', 'runner', '--project', 'contract'];
  const asUser = ['--reuid', user, '--regid', user, '--clear-groups', process.execPath, ...argv];
  const { status, stdout } = spawnSync('setpriv', [...asUser, 'test/backends/sandbox-kept.test.ts'], {
    env: { PATH: '/usr/bin:/bin', HOME: `/home/${user}`, NO_COLOR: '1' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(status, stdout.slice(-20_000)).toBe(0);
  expect(stdout).toMatch(/Tests +\d+ passed/);
});

describe('a keeper', () => {
  beforeEach(() => eventually(() => keepers().length === 0, 'the keepers of before have ended'));

  test('is one process for many cells, and ends after its last one', { timeout: 300_000 }, async () => {
    const runtimes = await inGroups(50, () => create(held));
    expect(keepers()).toHaveLength(1);
    const pid = theKeeper();
    const nodes = descendants(pid).filter((each) => read(`/proc/${each}/comm`).startsWith('node'));
    expect(nodes).toEqual([]);
    const outputs = await Promise.all(runtimes.map((runtime, index) => sh(runtime, `echo ${index}`)));
    expect(outputs).toEqual(runtimes.map((_, index) => `${index}\n`));
    await Promise.all(runtimes.map((runtime) => runtime.close()));
    await eventually(() => keepers().length === 0, 'the keeper has ended');
    expect(listening()).toEqual([]);
  });

  test('several owners that want the first cell at once share one', async () => {
    const owners = await Promise.all([1, 2, 3].map(() => startOwner(kept)));
    expect(keepers()).toHaveLength(1);
    for (const { child, id } of owners) {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await (await attach(id, here)).close();
    }
  });

  test('a tenant has one of its own', async () => {
    const [one, two] = await Promise.all([create(held), create({ ...held, keeper: 'tenant' })]);
    expect(keepers()).toHaveLength(2);
    await Promise.all([one.close(), two.close()]);
  });

  test('killed, takes its cells along: a typed end, and nothing is left', async () => {
    const statuses: string[] = [];
    const onStatus = ({ status }: { status: string }) => statuses.push(status);
    const word = uniqueWord();
    const first = await create({ ...kept, onStatus } as CreateRuntimeOptions);
    const second = await create(held);
    await second.processes.start(['bash', '-c', `exec -a ${word} sleep 1000`]);
    await first.run(`setsid bash -c 'exec -a ${word} sleep 1000' & sleep 0`);
    await eventually(() => countProcesses(word) === 2);
    const running = first.run('sleep 1000');
    const pid = theKeeper();
    const below = descendants(pid);
    process.kill(pid, 'SIGKILL');
    await refusal(running, 'runtime-disconnected');
    await refusal(second.run('true'), 'runtime-disconnected');
    await refusal(first.read('x'), 'runtime-disconnected');
    await eventually(() => first.status === 'ERROR_RUNTIME_DISCONNECTED');
    await eventually(() => second.status === 'ERROR_RUNTIME_DISCONNECTED');
    expect(statuses.at(-1)).toBe('ERROR_RUNTIME_DISCONNECTED');
    await eventually(() => countProcesses(word) === 0, 'the commands are gone');
    await eventually(() => below.every((each) => !existsSync(`/proc/${each}`)), 'all its processes are gone');
    expect((await listCells(here)).map(({ id, status }) => [id, status])).toEqual([[first.id, 'lost']]);
    await first.close();
    await second.close();
    expect(await listCells(here)).toEqual([]);
    expect(read('/proc/self/mountinfo')).not.toContain(directory);
  });

  test('a kept cell whose keeper was killed is lost, and what it left is removed by whoever attaches', async () => {
    const first = await create(kept);
    await first.detach();
    process.kill(theKeeper(), 'SIGKILL');
    await eventually(async () => (await listCells(here))[0]?.status === 'lost');
    await refusal(attach(first.id, here), 'runtime-disconnected');
    expect(await listCells(here)).toEqual([]);
  });

  test('aborted by what a cell does, it does not take the owner along, and the next cell gets another', async () => {
    const runtime = await create(held);
    const running = runtime.run('sleep 1000');
    // As the engine does on a failed assertion.
    process.kill(theKeeper(), 'SIGABRT');
    await refusal(running, 'runtime-disconnected');
    await runtime.close();
    const next = await create(held);
    expect(await sh(next, 'echo next')).toBe('next\n');
    await next.close();
  });
});

test('a keeper that is stuck does not keep its owner waiting beyond a time limit', {
  timeout: 20_000,
}, async () => {
  await eventually(() => keepers().length === 0, 'the keepers of before have ended');
  const runtime = await create(held);
  process.kill(theKeeper(), 'SIGSTOP');
  await refusal(runtime.run('sleep 1000', { timeoutMs: 100 }), 'timed-out');
  process.kill(theKeeper(), 'SIGCONT');
  expect(await sh(runtime, 'echo fine', { session: 'other' })).toBe('fine\n');
  await runtime.close();
});

describe('a cell in a keeper', () => {
  test('sees nothing of the way to others, whatever it is shown', async () => {
    const other = await create(kept);
    const shown = await create({ ...held, workspace: directory, readOnly: [tmpdir()] });
    const own = join(directory, 'workcell');
    expect(readdirSync(join(own, 'sandbox'))).toContain(other.id);
    const temporary = `${tmpdir()}/workcell-${process.getuid?.()}`;
    expect(await sh(shown, `find /workspace/workcell ${own} ${temporary} -mindepth 1`)).toBe('');
    expect((await shown.run('touch /workspace/workcell/x')).exitCode).not.toBe(0);
    expect((await shown.files.list('workcell')).map(({ name }) => name)).toEqual([]);
    await shown.write('beside', 'x');
    expect(existsSync(join(directory, 'beside'))).toBe(true);
    await Promise.all([other.close(), shown.close()]);
  });

  test('that is not kept ends with its owner', async () => {
    const word = uniqueWord();
    const { child } = await startOwner({ ...held, env: { WORD: word } });
    const pid = theKeeper();
    const before = descendants(pid).length;
    expect(before).toBeGreaterThan(2);
    child.kill('SIGKILL');
    await eventually(() => keepers().length === 0, 'the keeper has ended with its last cell');
    expect(readdirSync(join(directory, 'workcell', 'sandbox'))).toEqual([]);
  });

  test('runs where its owner is out of its reach: the executor is in another process', async () => {
    const runtime = await create(held);
    const pid = theKeeper();
    expect(pid).not.toBe(process.pid);
    expect(await sh(runtime, 'for i in $(seq 100); do echo $i; done | tail -n 1')).toBe('100\n');
    const cells = join(directory, 'workcell', 'sandbox');
    const home = join(cells, readdirSync(cells)[0] ?? '');
    expect(await sh(runtime, `ls ${home} 2>&1 | grep -c 'No such file'`)).toBe('1\n');
    await runtime.close();
    expect(existsSync(home)).toBe(false);
  });

  test('is reached with its own token only', async () => {
    const [one, two] = await Promise.all([create(kept), create(kept)]);
    const home = (id: string) => join(directory, 'workcell', 'sandbox', id);
    const state = (id: string) => JSON.parse(readFileSync(join(home(id), 'state.json'), 'utf8'));
    const ask = (id: string, token: string) =>
      spawnSync(
        'curl',
        [
          '-s',
          '-o',
          '/dev/null',
          '-w',
          '%{http_code}',
          '--unix-socket',
          join(home(id), 's'),
          '-H',
          `Authorization: Bearer ${token}`,
          'http://localhost/v1/info',
        ],
        { encoding: 'utf8' },
      ).stdout;
    expect(ask(one.id, state(one.id).token)).toBe('200');
    expect(ask(one.id, state(two.id).token)).toBe('401');
    await Promise.all([one.close(), two.close()]);
  });

  test('refuses options that do not go together', async () => {
    await refusal(create({ ...kept, pool: { size: 1 } }), 'invalid-config');
    await refusal(create({ ...held, workspace: '/no/such/place' }), 'invalid-config');
    await refusal(create({ ...held, readOnly: ['/no/such/place'] }), 'invalid-config');
    expect(await listCells(here)).toEqual([]);
  });
});

describe('pause', () => {
  test.each([
    ['in this process', { backend: 'sandbox', config: false }],
    ['in a keeper', held],
  ] as const)('stops everything in a cell %s, and what is asked for waits', async (_name, options) => {
    const runtime = await create(options);
    const counting = runtime.run(
      'while ! [ -e /workspace/done ]; do echo x >>/workspace/ticks; done; echo counted',
    );
    await eventually(async () => (await runtime.files.list('.')).some(({ name }) => name === 'ticks'));
    await runtime.pause();
    await runtime.pause();
    expect(states(runtime)).toEqual(new Set(['T']));
    const abort = new AbortController();
    const given = runtime.run('echo never', { signal: abort.signal, session: 'other' });
    abort.abort();
    await refusal(given, 'cancelled');
    const waiting = runtime.write('done', '');
    await runtime.resume();
    await runtime.resume();
    await waiting;
    expect((await counting).output).toBe('counted\n');
    expect(await sh(runtime, 'jobs; echo goes on')).toBe('goes on\n');
    await runtime.close();
  });

  test('a time limit that passes meanwhile ends the command when the cell goes on, and the shell stays', async () => {
    const runtime = await create(held);
    await sh(runtime, 'export STAGE=one');
    const running = runtime.run('sleep 1000', { timeoutMs: 300 });
    await eventually(async () => (await runtime.processes.list()) && true);
    await runtime.pause();
    await new Promise((resolve) => setTimeout(resolve, 600));
    await runtime.resume();
    expect((await running).endedBy).toBe('timeout');
    expect(await sh(runtime, 'echo $STAGE')).toBe('one\n');
    await runtime.close();
  });

  test('a program that was stopped before stays so', async () => {
    const runtime = await create(held);
    await runtime.processes.start(['bash', '-c', 'echo $$ >pid; exec sleep 2000']);
    const state = 'cut -d " " -f 3 /proc/$(cat pid)/stat';
    await sh(runtime, 'until [ -s pid ]; do :; done; kill -STOP $(cat pid)');
    await eventually(async () => (await sh(runtime, state)) === 'T\n', 'it is stopped');
    await runtime.pause();
    await runtime.resume();
    expect(await sh(runtime, state)).toBe('T\n');
    await runtime.close();
  });

  test('a paused cell is found paused, goes on when it is attached to, and can be ended as it is', async () => {
    const first = await create(kept);
    await first.pause();
    await first.detach();
    expect((await listCells(here))[0]?.status).toBe('paused');
    const second = await attach(first.id, here);
    expect((await listCells(here))[0]?.status).toBe('running');
    expect(await sh(second, 'echo goes on')).toBe('goes on\n');
    await second.pause();
    await second.close();
    expect(await listCells(here)).toEqual([]);
  });
});

test('nothing is left when the last cell is gone', async () => {
  await eventually(() => keepers().length === 0, 'the keepers have ended');
  expect(listening()).toEqual([]);
  expect(readdirSync(join(directory, 'workcell', 'sandbox'))).toEqual([]);
});

/** The keepers of this run, which we recognise by their directory. */
function keepers(): number[] {
  return pids().filter(
    (pid) =>
      read(`/proc/${pid}/cmdline`).includes('keeper/keeper-main') &&
      read(`/proc/${pid}/environ`).includes(`XDG_RUNTIME_DIR=${directory}\0`),
  );
}

function theKeeper(): number {
  const [pid, another] = keepers();
  if (pid === undefined || another !== undefined) throw new Error('There is not exactly one keeper.');
  return pid;
}

/** States of all processes of the cell but those on this side. */
function states(_runtime: Runtime): Set<string> {
  const roots = [process.pid, ...keepers()].flatMap(descendants);
  const inside = roots.filter((pid) => /^NSpid:\t\d+\t\d+/m.test(read(`/proc/${pid}/status`)));
  return new Set(inside.map((pid) => /^State:\t(\w)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'gone'));
}

function descendants(pid: number): number[] {
  const children = pids().filter(
    (each) => /^PPid:\t(\d+)/m.exec(read(`/proc/${each}/status`))?.[1] === String(pid),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function listening(): string[] {
  return readdirSync(join(directory, 'workcell', 'keeper')).filter((name) => !name.endsWith('.log'));
}

function countProcesses(word: string): number {
  return pids().filter((pid) => read(`/proc/${pid}/cmdline`).startsWith(`${word}\0`)).length;
}

function pids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** So many at a time that none waits long. */
async function inGroups<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count)
    made.push(...(await Promise.all(Array.from({ length: Math.min(10, count - made.length) }, make))));
  return made;
}
