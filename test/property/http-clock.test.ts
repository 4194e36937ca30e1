/** The wall clock of a server jumps by hours, forward and back, while it works. */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ExecutorProcess, startExecutorProcess } from '../../bench/lines/http/server.js';
import { type Action, parseAction } from '../../src/protocol/index.js';
import { connectExecutor, type HttpExecutor } from '../../src/runtime/client/http-executor.js';
import { startProxy } from '../runtime/client/proxy.js';

/** Stands between programs and the time of day, which is then as far off as a file says. */
const library = readdirSync('/usr/lib')
  .map((name) => join('/usr/lib', name, 'faketime/libfaketime.so.1'))
  .find((path) => existsSync(path));
if (library === undefined) console.warn('Skipped: no clock can be made to jump here. Install libfaketime.');

const hourMs = 3_600_000;
const jumps = [5, -5, 24 * 365 * 20];
const folder = mkdtempSync(join(tmpdir(), 'clock-'));
const offsetFile = join(folder, 'offset');
let server: ExecutorProcess;
let executor: HttpExecutor;

describe.skipIf(library === undefined)('the clock of the server jumps', () => {
  beforeAll(async () => {
    jump(0);
    server = await startExecutorProcess([], {
      env: {
        LD_PRELOAD: library as string,
        FAKETIME_TIMESTAMP_FILE: offsetFile,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    ({ executor } = await connectExecutor({ url: server.url }, { token: server.token }));
  });
  beforeEach(() => jump(0));
  afterAll(async () => {
    await executor.close();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('it really does, for the server and for its commands', async () => {
    const before = { server: await timeOfServer(), command: await timeOfCommand() };
    jump(5);
    expect((await timeOfServer()) - before.server).toBeGreaterThan(4.9 * hourMs);
    expect((await timeOfCommand()) - before.command).toBeGreaterThan(4.9 * hourMs);
  });

  test.each(jumps)('by %i hours while a command runs: it ends by itself, after its own time', async (by) => {
    const ended = await executor.execute<'run'>(run('echo begun; sleep 0.5; echo done'), {
      onProgress: () => jump(by),
    });
    expect(ended).toMatchObject({ output: 'begun\ndone\n', endedBy: 'exit', exitCode: 0 });
    expect(ended.durationMs).toBeGreaterThan(400);
    expect(ended.durationMs).toBeLessThan(hourMs);
  });

  test.each(jumps)('by %i hours: limits of time are neither shortened nor prolonged', async (by) => {
    const onProgress = () => jump(by);
    const hard = await executor.execute<'run'>(run('echo begun; sleep 1000', { timeoutMs: 700 }), {
      onProgress,
    });
    expect(hard).toMatchObject({ endedBy: 'timeout' });
    expect(hard.durationMs).toBeGreaterThanOrEqual(700);
    jump(0);
    const soft = await executor.execute<'run'>(
      run('echo begun; sleep 1000', { noChangeTimeoutMs: 700, session: `soft${by}` }),
      { onProgress },
    );
    expect(soft).toMatchObject({ endedBy: 'no-change', output: 'begun\n' });
    expect(soft.durationMs).toBeGreaterThanOrEqual(700);
    jump(0);
    const { id } = await executor.execute<'start_process'>(process('sleep 1000', { timeoutMs: 700 }));
    jump(by);
    const waited = await executor.execute<'wait_process'>(
      parseAction({ action: 'wait_process', id }) as Action<'wait_process'>,
    );
    expect(waited).toMatchObject({ endedBy: 'timeout' });
    expect(waited.durationMs).toBeGreaterThanOrEqual(700);
  });

  test('back and forth in the middle of a stream that is also cut: nothing is lost and nothing doubled', async () => {
    await using proxy = await startProxy(Number(new URL(server.url).port));
    const { executor: far } = await connectExecutor({ url: proxy.url }, { token: server.token });
    proxy.cutAfter(40_000);
    let text = '';
    await far.execute(run('for n in $(seq 1 20000); do echo "line $n"; done', { session: 'cut' }), {
      onProgress: (progress) => {
        if (progress.type === 'output-delta') text += progress.text;
        jump(jumps[proxy.connections % jumps.length] as number);
      },
    });
    expect(text.replaceAll('\r', '')).toBe(
      Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`).join(''),
    );
    expect(proxy.connections).toBeGreaterThan(3);
    await far.disconnect();
  });

  test.each(jumps)('by %i hours between a request and its repetition: it has run once', async (by) => {
    const file = `count${by}`;
    const ask = async () => {
      const answer = await fetch(`${server.url}/v1/actions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          'idempotency-key': file,
        },
        body: JSON.stringify({ action: 'run', command: `echo x >> ${file}; wc -l < ${file}` }),
      });
      return { status: answer.status, body: (await answer.json()) as { output: string } };
    };
    const first = await ask();
    expect(first).toMatchObject({ status: 200, body: { output: '1\n' } });
    jump(by);
    expect(await ask()).toEqual(first);
    jump(-by);
    expect(await ask()).toEqual(first);
  });

  test('figures of time stay figures of time', async () => {
    jump(-5);
    const { uptimeMs, idleMs } = await executor.execute<'stats'>({ action: 'stats' });
    expect(uptimeMs).toBeGreaterThan(0);
    expect(uptimeMs).toBeLessThan(hourMs);
    expect(idleMs).toBeGreaterThanOrEqual(0);
    expect(idleMs).toBeLessThan(hourMs);
  });

  test('that of the client may jump, too', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const ended = await executor.execute<'run'>(
        run('echo begun; sleep 0.5; echo done', { session: 'client' }),
        {
          onProgress: () => void vi.setSystemTime(Date.now() + 5 * hourMs),
        },
      );
      expect(ended).toMatchObject({ output: 'begun\ndone\n', endedBy: 'exit' });
      vi.setSystemTime(0);
      expect(await executor.execute<'run'>(run('echo again', { session: 'client' }))).toMatchObject({
        output: 'again\n',
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

function run(command: string, rest: object = {}): Action<'run'> {
  return parseAction({ action: 'run', command, ...rest }) as Action<'run'>;
}

function process(command: string, rest: object = {}): Action<'start_process'> {
  return parseAction({ action: 'start_process', command, ...rest }) as Action<'start_process'>;
}

/** Replace the file in one step, so that no program reads half of it. */
function jump(hours: number): void {
  writeFileSync(`${offsetFile}.new`, `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h\n`);
  renameSync(`${offsetFile}.new`, offsetFile);
}

async function timeOfServer(): Promise<number> {
  const { id } = await executor.execute<'start_process'>(process('true'));
  const { processes } = await executor.execute<'list_processes'>({ action: 'list_processes' });
  return processes.find((entry) => entry.id === id)?.startedAt ?? 0;
}

async function timeOfCommand(): Promise<number> {
  const { output } = await executor.execute<'run'>(run('date +%s'));
  return Number(output) * 1000;
}
