import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Action, type Progress, parseAction } from '../../src/protocol/index.js';
import { connectExecutor, type HttpExecutor } from '../../src/runtime/client/http-executor.js';
import { collect, eventually } from '../../src/testing/contract/given.js';
import { serve, token } from '../cell/server/serve.js';
import { startProxy } from '../runtime/client/proxy.js';

const run = (command: string, rest: object = {}) =>
  parseAction({ action: 'run', command, timeoutMs: 60_000, ...rest }) as Action<'run'>;

const quick = { token, silenceMs: 1000 };

describe('a broken wire', () => {
  test('a stream that is cut again and again arrives whole, nothing lost and nothing doubled', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    proxy.cutAfter(40_000);
    const { text, sequences } = await gather(
      executor,
      run('for n in $(seq 1 40000); do echo "line $n ✓"; done'),
    );
    expect(text === Array.from({ length: 40_000 }, (_, index) => `line ${index + 1} ✓\n`).join('')).toBe(
      true,
    );
    expect(sequences).toBe(true);
    expect(proxy.connections).toBeGreaterThan(10);
    await executor.disconnect();
  });

  test('a stalled connection is noticed and given up, and the stream goes on over another', async () => {
    await using served = await serve({ limits: { heartbeatMs: 100 } });
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    let stalled = false;
    const { text } = await gather(executor, run('for n in 1 2 3 4 5 6; do echo $n; sleep 0.2; done'), () => {
      if (!stalled) proxy.stall();
      stalled = true;
    });
    expect(text).toBe('1\n2\n3\n4\n5\n6\n');
    expect(proxy.connections).toBeGreaterThan(1);
    await executor.disconnect();
  });

  test('a quiet command is not taken for a dead one', async () => {
    await using served = await serve({ limits: { heartbeatMs: 100 } });
    const { executor } = await connectExecutor({ url: served.url }, quick);
    expect(await executor.execute(run('sleep 3; echo done'))).toMatchObject({ output: 'done\n' });
    await executor.disconnect();
  });

  test('a request whose answer was lost is repeated and has run exactly once', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    for (let round = 0; round < 5; round++) {
      const answer = executor.execute(
        run('echo x >> count; sleep 0.3; wc -l < count', { session: `s${round}` }),
      );
      await eventually(() => lines(join(served.workspace, 'count')) === round + 1);
      proxy.cut();
      expect(await answer).toMatchObject({ output: `${round + 1}\n`, exitCode: 0 });
    }
    await executor.disconnect();
  });

  test('a client that does not come back has its command ended after the grace period', async () => {
    await using served = await serve({ limits: { graceMs: 500 } });
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    const answer = executor.execute(run('echo started > began; sleep 1000')).catch(() => {});
    await eventually(() => lines(join(served.workspace, 'began')) === 1);
    proxy.refuse(true);
    proxy.cut();
    const { executor: other } = await connectExecutor({ url: served.url }, quick);
    await eventually(async () => {
      const { sessions } = await other.execute<'list_sessions'>({ action: 'list_sessions' });
      return sessions.every(({ running }) => running === null);
    }, 'the command is ended');
    await executor.disconnect();
    await answer;
    await other.disconnect();
  });

  test('cancelling reaches the server also after the connection was cut', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    const stop = new AbortController();
    const answer = executor.execute(run('echo started; sleep 1000'), {
      signal: stop.signal,
      onProgress: () => {
        proxy.cut();
        stop.abort();
      },
    });
    expect(await answer).toMatchObject({ endedBy: 'cancelled' });
    await executor.disconnect();
  });

  test('a download that is cut again and again arrives whole, also a part of a file', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    await executor.upload('large', pieces(400));
    const whole = readFileSync(join(served.workspace, 'large'));
    proxy.cutAfter(1_000_000);
    const { content, sizeBytes } = await executor.download('large');
    expect(sizeBytes).toBe(whole.length);
    expect((await collect(content)).equals(whole)).toBe(true);
    expect(proxy.connections).toBeGreaterThan(20);
    const part = await executor.download('large', { start: 5_000_000, end: 15_000_000 });
    expect((await collect(part.content)).equals(whole.subarray(5_000_000, 15_000_001))).toBe(true);
    await executor.disconnect();
  });

  test('a file that was changed while its download was cut is not mixed from old and new', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    await executor.upload('large', pieces(400));
    proxy.cutAfter(1_000_000);
    const { content } = await executor.download('large');
    let received = 0;
    const reading = (async () => {
      for await (const chunk of content) {
        if (received === 0) writeFileSync(join(served.workspace, 'large'), Buffer.alloc(400 * 65_536, 'new'));
        received += chunk.length;
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'file-changed' });
    expect(received).toBeLessThan(400 * 65_536);
    await executor.disconnect();
  });

  test('an archive that breaks off says so, and an upload leaves nothing half written', async () => {
    await using served = await serve();
    await using proxy = await startProxy(served.port);
    const { executor } = await connectExecutor({ url: proxy.url }, quick);
    await executor.upload('large', pieces(400));
    proxy.cutAfter(1_000_000);
    const { content } = await executor.download('large', { format: 'tar' });
    await expect(collect(content)).rejects.toMatchObject({ code: 'runtime-disconnected' });
    proxy.cutAfter(0);
    const upload = executor.upload(
      'half',
      pieces(400, () => proxy.cut()),
    );
    await expect(upload).rejects.toMatchObject({ code: 'runtime-disconnected' });
    await eventually(async () => {
      const { entries } = await executor.execute<'list'>({ action: 'list', path: '.', depth: 1, limit: 100 });
      return entries.map(({ name }) => name).join() === 'large';
    });
    await executor.disconnect();
  });
});

test('an upload that is refused halfway does not stand in the way of others on its connection', async () => {
  await using served = await serve();
  await using proxy = await startProxy(served.port);
  const { executor } = await connectExecutor({ url: proxy.url }, quick);
  for (let round = 0; round < 10; round++) {
    const upload = executor.upload('no-archive', pieces(20), { format: 'tar' });
    await expect(upload).rejects.toMatchObject({ code: 'archive-refused' });
    expect(await executor.execute(run('echo next'))).toMatchObject({ output: 'next\n' });
  }
  await executor.disconnect();
});

describe('a server that goes away', () => {
  test('everything under way fails at once with runtime-disconnected', async () => {
    const served = await serve();
    const { executor } = await connectExecutor({ url: served.url }, quick);
    const running = executor.execute(run('echo started; sleep 1000'), {
      onProgress: () => void served.server.close('detach'),
    });
    const started = performance.now();
    await expect(running).rejects.toMatchObject({ code: 'runtime-disconnected' });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await executor.lost).toContain('refuses the connection');
    await expect(executor.execute({ action: 'list_sessions' })).rejects.toMatchObject({
      code: 'runtime-disconnected',
    });
    await executor.close();
    await served[Symbol.asyncDispose]();
  });

  test('one that was started anew in the same place is not taken for the one before', async () => {
    const first = await serve();
    const { executor } = await connectExecutor({ url: first.url }, quick);
    await first[Symbol.asyncDispose]();
    await using _second = await serve({ listen: { host: '127.0.0.1', port: first.port } });
    await expect(executor.execute({ action: 'list_sessions' })).rejects.toMatchObject({
      code: 'runtime-disconnected',
      message: expect.stringContaining('restarted'),
    });
    await executor.disconnect();
  });

  test('an orderly end of the server gives the answers of what it ends', async () => {
    const served = await serve();
    const { executor } = await connectExecutor({ url: served.url }, quick);
    const running = executor.execute<'run'>(run('echo started; sleep 1000'), {
      onProgress: () => void served.server.close('end'),
    });
    expect(['lost', 'killed', 'cancelled']).toContain((await running).endedBy);
    await executor.disconnect();
    await served[Symbol.asyncDispose]();
  });
});

test('any function that gives a stream will do as the way to a server', async () => {
  await using served = await serve({ over: 'unix' });
  let connections = 0;
  const { executor } = await connectExecutor(
    {
      connect: async () => {
        connections++;
        return connect(served.socketPath);
      },
    },
    quick,
  );
  expect(await executor.execute(run('echo through'))).toMatchObject({ output: 'through\n' });
  const terminal = await executor.openTerminal({ argv: ['echo', 'on a terminal'] });
  expect((await collect(terminal.output)).toString()).toContain('on a terminal');
  await terminal.close();
  expect(connections).toBeGreaterThanOrEqual(2);
  await executor.close();
});

async function gather(executor: HttpExecutor, action: Action<'run'>, onFirst: () => void = () => {}) {
  let text = '';
  let next = 0;
  let sequences = true;
  await executor.execute(action, {
    onProgress: (progress: Progress) => {
      if (progress.type !== 'output-delta') return;
      sequences &&= progress.sequence === next;
      next += Buffer.byteLength(progress.text);
      text += progress.text;
      onFirst();
    },
  });
  return { text: text.replaceAll('\r', ''), sequences };
}

async function* pieces(count: number, atHalf: () => void = () => {}): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) {
    if (index === count / 2) atHalf();
    yield Buffer.alloc(65_536, index + 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function lines(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}
