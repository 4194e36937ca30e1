/**
 * No space remains where a server keeps its files: failures say so, the rest continues, and everything works once
 * there is space.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ExecutorProcess, startExecutorProcess } from '../../bench/lines/http/server.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { refusal, sh } from '../../src/testing/contract/given.js';

/** File systems of its own: small ones in memory, which go with the server. */
const namespace = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--mount'];
const possible = spawnSync('unshare', [...namespace.slice(1), 'true']).status === 0;
if (!possible)
  console.warn('Skipped: no file system can be mounted here. Run as root, or allow user namespaces.');

const large = 200_000;
const lineCount = 400_000;

describe.skipIf(!possible)('no space left', () => {
  let place: string;
  let server: ExecutorProcess;
  let runtime: Runtime;
  let seen: string;
  const filled: string[] = [];

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'full-'));
    const script = `mount -t tmpfs -o size=24m small ${place} && mount -t tmpfs -o size=1m small /dev/shm && mkdir ${place}/workspace ${place}/temporary && exec "$@"`;
    server = await startExecutorProcess(['--workspace', join(place, 'workspace')], {
      env: { TMPDIR: join(place, 'temporary') },
      within: [...namespace, 'sh', '-c', script, 'sh'],
    });
    seen = `/proc/${server.child.pid}/root`;
    runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
    await runtime.write('kept', 'old content\n');
    await sh(runtime, 'true');
  });
  afterEach(() => free());
  afterAll(async () => {
    await runtime?.close();
    await server?.[Symbol.asyncDispose]();
    rmSync(place, { recursive: true, force: true });
  });

  /** Takes all space of a directory's file system but so many bytes. */
  function fill(directory: string, leftBytes = 0): void {
    const path = `${seen}${directory}/filling-${filled.length}`;
    const { bavail, bsize } = statfsSync(`${seen}${directory}`);
    const file = openSync(path, 'w');
    filled.push(path);
    try {
      for (let rest = bavail * bsize - leftBytes; rest > 0; )
        rest -= writeSync(file, Buffer.alloc(Math.min(rest, 65_536)));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    } finally {
      closeSync(file);
    }
  }

  function free(): void {
    for (const file of filled.splice(0)) rmSync(file);
  }

  const names = () => readdirSync(`${seen}${place}/workspace`).sort();

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['write', (path) => runtime.write(path, 'x'.repeat(large))],
    ['append', (path) => runtime.write(path, 'x'.repeat(large), { append: true })],
    ['edit', (path) => runtime.edit(path, { oldText: 'old', newText: 'x'.repeat(large) })],
    ['upload', (path) => runtime.files.upload(Buffer.alloc(large), path)],
    ['copy', (path) => runtime.files.copy('large', path, { overwrite: true })],
  ])('a file: %s fails with disk-full, what was there stays, nothing half is left', async (_verb, change) => {
    await runtime.write('large', 'x'.repeat(large));
    for (const leftBytes of [0, large / 2]) {
      fill(place, leftBytes);
      const before = names();
      await refusal(change('kept'), 'disk-full');
      expect(readFileSync(`${seen}${place}/workspace/kept`, 'utf8')).toBe('old content\n');
      expect(names()).toEqual(before);
      free();
    }
    await change('kept');
    expect(readFileSync(`${seen}${place}/workspace/kept`).length).toBeGreaterThanOrEqual(large);
    await runtime.write('kept', 'old content\n');
    await runtime.files.remove('large');
  });

  test('an archive that does not fit fails with disk-full', async () => {
    await sh(
      runtime,
      `mkdir packed && head -c ${large} /dev/urandom > packed/one && cp packed/one packed/two`,
    );
    const { content } = await runtime.files.download('packed', { format: 'tar' });
    const pieces: Uint8Array[] = [];
    for await (const chunk of content) pieces.push(chunk);
    fill(place, large);
    await refusal(runtime.files.upload(Buffer.concat(pieces), 'unpacked', { format: 'tar' }), 'disk-full');
    free();
    expect(await runtime.files.upload(Buffer.concat(pieces), 'unpacked', { format: 'tar' })).toMatchObject({
      files: 2,
    });
  });

  test('a command meets it as any program does, and its session goes on', async () => {
    fill(place);
    const failed = await runtime.run('head -c 1000000 /dev/zero > zeros');
    expect(failed).toMatchObject({ endedBy: 'exit', exitCode: 1 });
    expect(failed.output).toContain('No space left on device');
    expect(await sh(runtime, 'rm zeros; echo goes on')).toBe('goes on\n');
  });

  test.each([0, 500_000, 3_000_000])(
    'a long output arrives whole when the space for keeping it ends after %i bytes',
    async (leftBytes) => {
      fill(place, leftBytes);
      let text = '';
      const result = await runtime.run(`seq 1 ${lineCount}`, {
        onOutput: (chunk) => {
          text += chunk.text;
        },
      });
      expect(result).toMatchObject({ exitCode: 0, endedBy: 'exit', truncated: true });
      expect(result.output).toMatch(/^1\n2\n3\n/);
      expect(result.output).toMatch(new RegExp(`\\n${lineCount}\\n$`));
      expect(text.replaceAll('\r', '')).toBe(numbers(lineCount));
      const process = await runtime.processes.start(`seq 1 ${lineCount}`);
      let printed = '';
      await runtime.processes.wait(process.id, {
        onOutput: (chunk) => {
          printed += chunk.text;
        },
      });
      expect(printed).toBe(numbers(lineCount));
    },
  );

  test('shells need none: new ones start, and variables and long commands reach them', async () => {
    fill('/dev/shm');
    fill(place);
    expect(await sh(runtime, 'echo new', { session: 'new' })).toBe('new\n');
    await runtime.env.set({ ADDED: 'meanwhile' });
    expect(await sh(runtime, 'echo $ADDED')).toBe('meanwhile\n');
    expect(await sh(runtime, `: ${'x'.repeat(large)}; echo long`)).toBe('long\n');
  });

  test('a terminal and a process need none', async () => {
    fill(place);
    fill('/dev/shm');
    const terminal = await runtime.terminals.open({ argv: ['echo', 'on a terminal'] });
    let text = '';
    for await (const chunk of terminal.output) text += Buffer.from(chunk).toString();
    expect(text).toBe('on a terminal\r\n');
    const { id } = await runtime.processes.start('echo a process');
    expect(await runtime.processes.wait(id)).toMatchObject({ exitCode: 0, stdout: 'a process\n' });
  });

  test('a request that failed for it is answered alike when it is repeated, and carried out under a new key', async () => {
    const ask = (key: string) =>
      fetch(`${server.url}/v1/actions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ action: 'write', path: 'by key', content: 'x'.repeat(large) }),
      });
    fill(place);
    expect((await ask('first')).status).toBe(507);
    free();
    expect((await ask('first')).status).toBe(507);
    expect((await ask('second')).status).toBe(200);
  });
});

function numbers(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
}
