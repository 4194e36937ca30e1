import { expect } from '../expect.js';
import { type Behaviours, countProcesses, eventually, fixture, refusal, sh, uniqueWord } from '../given.js';

export const processBehaviours: Behaviours = {
  'processes.bytes': async ({ runtime }) => {
    const program = await fixture(runtime, 'both-streams');
    const { id, pid } = await runtime.processes.start([program]);
    expect(pid).toBeGreaterThan(0);
    const result = await runtime.processes.wait(id, { encoding: 'base64' });
    expect(result).toMatchObject({ exitCode: 0, signal: null, endedBy: 'exit', truncated: false });
    expect(Buffer.from(result.stdout, 'base64').toString('latin1')).toBe('out\0\xff\r\n\x1b[1m');
    expect(Buffer.from(result.stderr, 'base64').toString('latin1')).toBe('err\xfe\n');
  },

  'processes.argv': async ({ runtime }) => {
    const words = ['$HOME', 'two words', "it's", '"x"', '', '*', 'new\nline', 'é 🚀', '\\n'];
    const { id } = await runtime.processes.start(['printf', '%s\\0', ...words]);
    expect((await runtime.processes.wait(id)).stdout.split('\0').slice(0, -1)).toEqual(words);
  },

  'processes.command': async ({ runtime }) => {
    const { id } = await runtime.processes.start('echo $((40 + 2)) | tr 2 3; exit 5');
    expect(await runtime.processes.wait(id)).toMatchObject({ stdout: '43\n', exitCode: 5 });
  },

  'processes.stdin': async ({ runtime }) => {
    const whole = await runtime.processes.start(['cat'], { stdin: 'all at once ✓' });
    expect((await runtime.processes.wait(whole.id)).stdout).toBe('all at once ✓');
    const pieces = await runtime.processes.start(['cat'], { keepStdin: true });
    await runtime.processes.write(pieces.id, 'one ');
    await runtime.processes.write(pieces.id, Buffer.from('two').toString('base64'), { encoding: 'base64' });
    await runtime.processes.write(pieces.id, ' three', { end: true });
    expect((await runtime.processes.wait(pieces.id)).stdout).toBe('one two three');
    const large = await runtime.processes.start(['wc', '-c'], { stdin: 'x'.repeat(3_000_000) });
    expect((await runtime.processes.wait(large.id)).stdout.trim()).toBe('3000000');
  },

  'processes.no-stdin': async ({ runtime }) => {
    const { id } = await runtime.processes.start(['cat']);
    expect(await runtime.processes.wait(id, { timeoutMs: 20_000 })).toMatchObject({
      stdout: '',
      exitCode: 0,
    });
  },

  'processes.environment': async ({ runtime }) => {
    await runtime.files.makeDir('sub');
    const { id } = await runtime.processes.start('pwd; printenv MINE', {
      cwd: 'sub',
      env: { MINE: 'a "b"\nc' },
    });
    expect((await runtime.processes.wait(id)).stdout).toBe(`${runtime.workspace}/sub\na "b"\nc\n`);
  },

  'processes.exit': async ({ runtime }) => {
    const failed = await runtime.processes.start('exit 9');
    expect(await runtime.processes.wait(failed.id)).toMatchObject({
      exitCode: 9,
      signal: null,
      endedBy: 'exit',
    });
    const killed = await runtime.processes.start('kill -SEGV $$');
    expect(await runtime.processes.wait(killed.id)).toMatchObject({
      exitCode: null,
      signal: 'SIGSEGV',
      endedBy: 'killed',
    });
    // The result stays for later calls.
    expect(await runtime.processes.wait(failed.id)).toMatchObject({ exitCode: 9 });
  },

  'processes.background': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    const { id, pid } = await runtime.processes.start('read -r word < gate; echo "got $word"');
    expect(await runtime.processes.get(id)).toMatchObject({
      id,
      pid,
      running: true,
      exitCode: null,
      endedBy: null,
    });
    expect((await runtime.processes.list()).map((entry) => entry.id)).toContain(id);
    const { outputId } = await runtime.processes.get(id);
    expect(await runtime.execute({ action: 'read_output', outputId })).toMatchObject({
      data: '',
      complete: false,
    });
    await sh(runtime, 'echo it > gate');
    expect(await runtime.processes.wait(id)).toMatchObject({ stdout: 'got it\n', exitCode: 0 });
    expect(await runtime.processes.get(id)).toMatchObject({ running: false, exitCode: 0, endedBy: 'exit' });
  },

  'processes.signal': async ({ runtime }) => {
    const word = uniqueWord();
    const { id } = await runtime.processes.start(
      `bash -c 'exec -a ${word} sleep 1000' & exec -a ${word} sleep 1000`,
    );
    await eventually(async () => (await countProcesses(runtime, word)) >= 2);
    await runtime.processes.signal(id);
    expect(await runtime.processes.wait(id)).toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
      endedBy: 'killed',
    });
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'the children are gone too');
    const trapped = await runtime.processes.start(
      "trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.05; done",
    );
    let seen = '';
    const waiting = runtime.processes.wait(trapped.id, {
      onOutput: ({ text }) => {
        seen += text;
      },
    });
    await eventually(() => seen.includes('ready'));
    await runtime.processes.signal(trapped.id, 'SIGUSR1');
    expect((await waiting).stdout).toContain('ready\n');
  },

  'processes.wait-timeout': async ({ runtime }) => {
    const { id } = await runtime.processes.start(['cat'], { keepStdin: true });
    await refusal(runtime.processes.wait(id, { timeoutMs: 100 }), 'timed-out');
    expect(await runtime.processes.get(id)).toMatchObject({ running: true });
    await runtime.processes.write(id, 'still here', { end: true });
    expect(await runtime.processes.wait(id)).toMatchObject({ stdout: 'still here', exitCode: 0 });
  },

  'processes.wait-abort': async ({ runtime }) => {
    const { id } = await runtime.processes.start(['cat'], { keepStdin: true });
    const controller = new AbortController();
    const waiting = runtime.processes.wait(id, { signal: controller.signal });
    controller.abort();
    await refusal(waiting, 'cancelled');
    await runtime.processes.write(id, 'alive', { end: true });
    expect((await runtime.processes.wait(id)).stdout).toBe('alive');
  },

  'processes.timeout': async ({ runtime }) => {
    const word = uniqueWord();
    const program = await fixture(runtime, 'detach');
    const { id } = await runtime.processes.start(`${program} ${word}; exec -a ${word} sleep 1000`, {
      timeoutMs: 1000,
    });
    expect(await runtime.processes.wait(id)).toMatchObject({ exitCode: null, endedBy: 'timeout' });
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'all it started is gone');
  },

  'processes.output-limit': async ({ runtime }) => {
    const { id } = await runtime.processes.start(['yes'], { outputLimitBytes: 100_000 });
    const result = await runtime.processes.wait(id);
    expect(result).toMatchObject({ exitCode: null, endedBy: 'output-limit' });
    expect(result.stdout).toMatch(/^y\ny\n/);
  },

  'processes.stream': async ({ runtime }) => {
    const { id } = await runtime.processes.start('seq 1 20000; echo problem >&2');
    const next = { stdout: 0, stderr: 0 };
    let text = '';
    const result = await runtime.processes.wait(id, {
      onOutput: ({ stream, sequence, text: piece }) => {
        if (stream === 'terminal') throw new Error('A plain process has no terminal.');
        expect(sequence).toBe(next[stream]);
        next[stream] += Buffer.byteLength(piece);
        if (stream === 'stdout') text += piece;
      },
    });
    expect(text === result.stdout).toBe(true);
    expect(next.stderr).toBe('problem\n'.length);
    let resumed = '';
    await runtime.processes.wait(id, {
      stdoutFrom: 1000,
      stderrFrom: next.stderr,
      onOutput: ({ text: piece }) => {
        resumed += piece;
      },
    });
    expect(resumed === result.stdout.slice(1000)).toBe(true);
  },

  'processes.truncated': async ({ runtime }) => {
    const { id } = await runtime.processes.start('seq 1 100000');
    const result = await runtime.processes.wait(id, { maxOutputBytes: 1024 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.length).toBeLessThan(4096);
    expect(result.stdout).toMatch(/^1\n2\n/);
    expect(result.stdout).toMatch(/100000\n$/);
    const { outputId } = result;
    const part = await runtime.execute({
      action: 'read_output',
      outputId,
      stream: 'stdout',
      from: 588_888,
      limitBytes: 14,
    });
    expect(part.totalBytes).toBe(588_895);
    expect(part).toMatchObject({ data: '100000\n', complete: true });
  },

  'processes.missing-program': async ({ runtime }) => {
    const error = await refusal(runtime.processes.start(['no-such-program-anywhere', 'x']), 'spawn-failed');
    expect(error.message).toContain('no-such-program-anywhere');
  },

  'processes.unknown': async ({ runtime }) => {
    await refusal(runtime.processes.get('no-such-id'), 'process-not-found');
    await refusal(runtime.processes.wait('no-such-id'), 'process-not-found');
    await refusal(runtime.processes.signal('no-such-id'), 'process-not-found');
    await refusal(runtime.processes.write('no-such-id', 'x'), 'process-not-found');
  },
};
