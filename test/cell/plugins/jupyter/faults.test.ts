/** What code does to its kernel has a typed outcome, the next code cell works, and nothing remains. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../../../src/index.js';
import { checkout } from '../../../house/source.js';

const mebibyte = 1024 * 1024;

async function withLimits(use: (runtime: Runtime) => Promise<void>): Promise<void> {
  await using runtime = await createRuntime({
    config: false,
    backend: 'sandbox',
    limits: { memoryBytes: 1536 * mebibyte, pids: 64 },
  });
  await use(runtime);
  expect((await runtime.runCode('6 * 7')).text).toBe('42\n');
}

describe('in a sandbox with limits', () => {
  test('a cell that takes all memory is ended as oom', () =>
    withLimits(async (runtime) => {
      const hungry = 'held = []\nwhile True: held.append(bytearray(b"x" * 50_000_000))';
      expect(await runtime.runCode(hungry)).toMatchObject({ endedBy: 'oom', status: 'error' });
    }));

  test('a fork bomb is ended with all its processes', () =>
    withLimits(async (runtime) => {
      const bomb = 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass';
      expect(await runtime.runCode(bomb, { timeoutMs: 3000 })).toMatchObject({ endedBy: 'timeout' });
      await runtime.runCode('pass');
      // The new kernel with its watcher, and nothing of the old one.
      expect((await runtime.stats()).processes).toBeLessThan(8);
    }));
});

describe('a kernel', () => {
  test('that shows 200 MB is answered within bounds, and memory stays flat', () =>
    withLimits(async (runtime) => {
      await runtime.runCode('from IPython.display import HTML, display');
      const before = process.memoryUsage().rss;
      let highest = 0;
      const look = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 20);
      const shown = await runtime.runCode('display(HTML("y" * 200_000_000)); 5');
      const printed = await runtime.runCode('print("y" * 200_000_000)');
      clearInterval(look);
      expect(shown).toMatchObject({
        status: 'ok',
        truncated: true,
        outputs: [{ type: 'gap' }, { type: 'result' }],
      });
      expect(printed).toMatchObject({ status: 'ok', truncated: true });
      expect(printed.text.length).toBeLessThan(70_000);
      expect(highest - before).toBeLessThan(150 * mebibyte);
    }));

  test('that fails with a traceback too large to be read is not reported as well', () =>
    withLimits(async (runtime) => {
      const failed = await runtime.runCode('raise ValueError("x" * 30_000_000)');
      expect(failed).toMatchObject({ status: 'error', notice: expect.stringContaining('too large') });
    }));

  test('that shows values without number or end keeps nothing else waiting', () =>
    withLimits(async (runtime) => {
      const result = await runtime.runCode(`
from IPython.display import display
for count in range(20):
    display({"application/json": [[]] * 2_000_000}, raw=True)
deep = []
for count in range(900): deep = [deep]
display({"application/json": deep}, raw=True)
print("end")`);
      expect(result).toMatchObject({ status: 'ok', text: 'end\n' });
      expect(result.notice).toMatch(/21 messages of the kernel/);
    }));

  test('that was stopped from inside is ended at the deadline', () =>
    withLimits(async (runtime) => {
      await runtime.runCode('import os, subprocess');
      await runtime.env.set({ CHANGED: 'yes' });
      await runtime.runCode('subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -STOP {os.getpid()}"])');
      await runtime.run('sleep 0.5');
      await runtime.env.set({ CHANGED: 'again' });
      const { endedBy, status } = await runtime.runCode('1', { timeoutMs: 1000 });
      expect(status).toBe('error');
      expect(['killed', 'timeout']).toContain(endedBy);
    }));

  test('whose messages are malformed or not signed is heard no more and no less', () =>
    withLimits(async (runtime) => {
      const result = await runtime.runCode(`
from ipykernel.kernelapp import IPKernelApp
socket = IPKernelApp.instance().kernel.iopub_socket
socket.send_multipart([b"garbage"])
socket.send_multipart([b"x", b"<IDS|MSG>", b"bad", b'{"msg_id":"1","msg_type":"stream"}', b"{}", b"{}", b'{"name":"stdout","text":"forged"}'])
print("genuine")`);
      expect(result).toMatchObject({ text: 'genuine\n', notice: expect.stringContaining('2 messages') });
    }));

  test('that closes its sockets is lost, not waited for', () =>
    withLimits(async (runtime) => {
      const close = 'import os, time\nos.closerange(3, 200)\ntime.sleep(1000)';
      const { endedBy, notice } = await runtime.runCode(close);
      expect(['killed', 'lost']).toContain(endedBy);
      expect(notice).toContain('state is lost');
    }));

  test('that prints faster than its listener reads is held back, and nothing is lost', () =>
    withLimits(async (runtime) => {
      const listened = { bytes: 0, next: 0 };
      const result = await runtime.runCode('for n in range(40): print("x" * (1024 * 1024 - 1))', {
        async onOutput({ text, sequence }) {
          expect(sequence).toBe(listened.next);
          listened.next += Buffer.byteLength(text);
          for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        },
      });
      expect(result.status).toBe('ok');
      expect(listened.next).toBe(40 * mebibyte);
    }));
});

test.each(['cli', 'local', 'sandbox'])('an owner that is killed on %s leaves no kernel', async (backend) => {
  const program = `
    const { createRuntime } = await import('./src/index.ts');
    const runtime = await createRuntime({ config: false, backend: '${backend}' });
    await runtime.runCode('import subprocess; subprocess.Popen(["sleep", "1000"])', { context: 'a' });
    await runtime.runCode('pass');
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => owner.stdout.once('data', resolve));
  const kernels = kernelsBelow(owner.pid as number);
  expect(kernels.length).toBeGreaterThanOrEqual(2);
  owner.kill('SIGKILL');
  await expect.poll(() => kernels.filter(isRunning), { timeout: 20_000 }).toEqual([]);
});

/** The kernels among all that descends from a process, with what they started. */
function kernelsBelow(root: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  );
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 1 && (parent === root || descends(parent));
  };
  return [...parents.keys()].filter((pid) => descends(pid) && /ipykernel|sleep\0/.test(commandOf(pid)));
}

function parentOf(pid: number): number {
  return Number(/^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0);
}

function isRunning(pid: number): boolean {
  return /ipykernel|sleep\0/.test(commandOf(pid));
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
