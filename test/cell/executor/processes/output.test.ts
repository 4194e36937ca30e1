import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { collector, contentOf, isAlive, openCell, until } from './cell.js';

describe('output', () => {
  test('standard output and standard error come apart and byte for byte', async () => {
    const cell = openCell();
    const bytes = randomBytes(300_000);
    writeFileSync(join(cell.workspace, 'blob'), bytes);
    const { id } = await cell.start(['bash', '-c', 'cat blob; printf "\\xff\\x00\\xfe" >&2']);
    const result = await cell.wait(id, { encoding: 'base64' });
    expect(Buffer.from(result.stdout, 'base64').equals(bytes)).toBe(true);
    expect(Buffer.from(result.stderr, 'base64')).toEqual(Buffer.from([0xff, 0x00, 0xfe]));
    expect(result).toMatchObject({ exitCode: 0, signal: null, endedBy: 'exit', truncated: false });
  });

  test('the last words of a program that exits at once are kept', async () => {
    const cell = openCell();
    for (let round = 0; round < 50; round++) {
      const { stdout } = await cell.run(['sh', '-c', 'printf %070000d 7']);
      expect(stdout.length).toBe(70_000);
    }
  });

  test('output beyond the budget comes as head and tail, and whole through its handle', async () => {
    const cell = openCell();
    const { id } = await cell.start(['seq', '1', '100000']);
    const result = await cell.wait(id, { maxOutputBytes: 1000 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.startsWith('1\n2\n')).toBe(true);
    expect(result.stdout.endsWith('\n100000\n')).toBe(true);
    expect(result.stdout).toContain('bytes left out');
    expect(result.stdout.length).toBeLessThan(1100);
    const output = cell.outputs.get(result.outputId);
    expect(output.complete).toBe(true);
    expect(output.streams.stdout?.totalBytes).toBe(588_895);
  });

  test('as base64, output beyond the budget is its beginning', async () => {
    const cell = openCell();
    const { id } = await cell.start(['seq', '1', '100000']);
    const { stdout, truncated } = await cell.wait(id, { maxOutputBytes: 256, encoding: 'base64' });
    expect(truncated).toBe(true);
    expect(Buffer.from(stdout, 'base64').length).toBe(256);
  });

  test('a listener never gets half a character', async () => {
    const cell = openCell();
    const text = 'aé€😀'.repeat(60_000);
    writeFileSync(join(cell.workspace, 'text'), text);
    const { id } = await cell.start(['cat', 'text']);
    const { text: seen, listener } = collector();
    await cell.wait(id, {}, listener);
    expect(seen.stdout).toBe(text);
  });

  test('a character whose bytes come one at a time is passed on when it is whole', async () => {
    const cell = openCell();
    const { id } = await cell.start(['cat'], { keepStdin: true });
    const { text, next, listener } = collector();
    const waiting = cell.wait(id, {}, listener);
    for (const byte of Buffer.from('€')) await cell.processes.write(id, Buffer.from([byte]), { end: false });
    await until(() => (next.stdout ?? 0) > 0);
    expect(text.stdout).toBe('€');
    await cell.processes.write(id, Buffer.from([0xe2]), { end: true });
    await expect(waiting).resolves.toMatchObject({ stdout: '€\uFFFD' });
  });

  test('a late waiter gets what is kept from its position on, and then what comes', async () => {
    const cell = openCell();
    const { id } = await cell.start(['bash', '-c', 'seq 1 50000; read; seq 50001 100000'], {
      keepStdin: true,
    });
    const first = collector();
    const controller = new AbortController();
    const waiting = cell.wait(id, { signal: controller.signal }, (progress) => {
      first.listener(progress);
      if (first.text.stdout.endsWith('\n50000\n')) controller.abort();
    });
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    const from = first.next.stdout ?? 0;
    const second = collector({ stdout: from });
    const resumed = cell.wait(id, { stdoutFrom: from }, second.listener);
    await cell.processes.write(id, Buffer.from('\n'), { end: true });
    const { stdout } = await resumed;
    expect(first.text.stdout + second.text.stdout).toBe(stdout);
    const third = collector({ stdout: 1000 });
    await cell.wait(id, { stdoutFrom: 1000 }, third.listener);
    expect(third.text.stdout).toBe(stdout.slice(1000));
  });

  test('several waiters each get everything', async () => {
    const cell = openCell();
    const { id } = await cell.start(['seq', '1', '200000']);
    const collectors = Array.from({ length: 5 }, () => collector());
    const results = await Promise.all(collectors.map(({ listener }) => cell.wait(id, {}, listener)));
    for (const { text } of collectors) expect(text.stdout).toBe(results[0]?.stdout);
  });

  test('a slow listener holds the process back', async () => {
    const cell = openCell({ limits: { headBytes: 65_536, tailBytes: 4_194_304 } });
    const { id } = await cell.start(['bash', '-c', 'head -c 50000000 /dev/zero; echo done >&2']);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { next, listener } = collector();
    const waiting = cell.wait(id, {}, async (progress) => {
      listener(progress);
      await gate;
    });
    await until(() => (next.stdout ?? 0) > 0);
    await expect(cell.wait(id, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'timed-out' });
    expect(cell.processes.get(id).running).toBe(true);
    release();
    await waiting;
    expect(next.stdout).toBe(50_000_000);
  });

  test('a listener that never returns does not hold up the result of another waiter', async () => {
    const cell = openCell();
    const { id } = await cell.start(['head', '-c', '1100000', '/dev/zero']);
    let called = false;
    const controller = new AbortController();
    const stuck = cell.wait(id, { signal: controller.signal }, () => {
      called = true;
      return new Promise<void>(() => {});
    });
    await until(() => called);
    expect((await cell.wait(id)).stdout.length).toBe(1_100_000);
    controller.abort();
    await expect(stuck).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('a listener that fails ends only its own waiting', async () => {
    const cell = openCell();
    const { id } = await cell.start(['seq', '1', '10']);
    const failing = cell.wait(id, {}, () => {
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    await expect(cell.wait(id)).resolves.toMatchObject({ exitCode: 0 });
  });

  test('the dropped middle of a very long output is skipped, with positions that tell', async () => {
    const cell = openCell({ limits: { headBytes: 100_000, tailBytes: 100_000 } });
    const { id } = await cell.start(['head', '-c', '1000000', '/dev/zero']);
    await cell.wait(id);
    const sequences: number[] = [];
    let bytes = 0;
    await cell.wait(id, {}, (progress) => {
      if (progress.type !== 'output-delta') return;
      sequences.push(progress.sequence);
      bytes += progress.text.length;
    });
    expect(bytes).toBe(200_000);
    expect(sequences).toContain(900_000);
  });

  test('a background process that keeps the pipe does not hold up the result', async () => {
    const cell = openCell();
    const { id } = await cell.start(['bash', '-c', 'sleep 1000 & echo $!; printf %0200000d 1']);
    const { stdout, exitCode } = await cell.wait(id);
    expect(exitCode).toBe(0);
    const [pid = '', rest = ''] = stdout.split('\n');
    expect(rest.length).toBe(200_000);
    expect(isAlive(Number(pid))).toBe(true);
    await cell.processes.signal(id, 'SIGKILL');
    expect(isAlive(Number(pid))).toBe(false);
  });

  test('a background process that never stops printing does not hold up the result', async () => {
    const cell = openCell();
    const result = await cell.run(['bash', '-c', 'yes & echo started >&2']);
    expect(result).toMatchObject({ stderr: 'started\n', endedBy: 'exit' });
  });

  test('what a background process prints after the end can still be read', async () => {
    const cell = openCell();
    const file = join(cell.workspace, 'go');
    const { id } = await cell.start([
      'bash',
      '-c',
      `mkfifo go.fifo; (read <go.fifo; echo late; touch ${file}) & echo early`,
    ]);
    const { outputId, stdout } = await cell.wait(id);
    expect(stdout).toBe('early\n');
    expect(cell.outputs.get(outputId).complete).toBe(false);
    await cell.run(['bash', '-c', 'echo > go.fifo']);
    await contentOf(file);
    await until(() => cell.outputs.get(outputId).complete);
    expect(cell.outputs.get(outputId).streams.stdout?.read(0, 100).data.toString()).toBe('early\nlate\n');
  });

  test('a hundred mebibytes arrive unchanged with little memory', async () => {
    const cell = openCell();
    const size = 100 * 1024 * 1024;
    const hash = createHash('sha256');
    const before = process.memoryUsage().rss;
    let most = before;
    const { id } = await cell.start(['bash', '-c', `yes 0123456789abcdef | head -c ${size}`]);
    await cell.wait(id, { maxOutputBytes: 65_536 }, (progress) => {
      if (progress.type === 'output-delta') hash.update(progress.text);
      most = Math.max(most, process.memoryUsage.rss());
    });
    const expected = createHash('sha256');
    const block = Buffer.from('0123456789abcdef\n'.repeat(65_536));
    for (let left = size; left > 0; left -= block.length) expected.update(block.subarray(0, left));
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    expect(most - before).toBeLessThan(64 * 1024 * 1024);
  });
});
