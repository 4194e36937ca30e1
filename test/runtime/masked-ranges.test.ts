/** No part of a file or of kept output, in whatever form you request it, carries a secret. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromBuffer, type ZipFile } from 'yauzl';
import { type CreateRuntimeOptions, createRuntime, type Runtime } from '../../src/index.js';
import type { Executor } from '../../src/protocol/index.js';

const secret = 'tok-4f9a8b7c6d';
const body = randomBytes(96).toString('base64').match(/.{64}/g)?.join('\n') ?? '';
const key = `-----BEGIN KEY-----\n${body}\n-----END KEY-----\n`;
const text = `before ${secret} between ${Buffer.from(secret).toString('hex')} after\n`;
const hidden = text.replace(/tok-\w+|[0-9a-f]{28}/g, (found) => '*'.repeat(found.length));

describe.each(['cli', 'sandbox'] as const)('in a cell of backend %s', (backend) => {
  let directory: string;
  let runtime: Runtime;
  /** What a server holds: nothing but an executor. */
  let executor: Executor;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'masked-'));
    writeFileSync(join(directory, 'notes'), text);
    writeFileSync(join(directory, 'key.pem'), key);
    const secrets = { API_TOKEN: { value: secret }, SSH_KEY: { value: key } };
    const options = { backend, workspace: directory, config: false, secrets };
    runtime = await createRuntime(options as CreateRuntimeOptions);
    executor = runtime;
    await runtime.run(`mkdir -p "in/${secret}" && cp notes "in/${secret}/copy" && ln -s copy in/link`);
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const bytesOf = async (path: string, options = {}) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await executor.download(path, options)).content) chunks.push(chunk);
    return Buffer.concat(chunks);
  };

  test.each([1, 3, 10, 60])('a file that is downloaded in ranges of %i bytes shows none', async (length) => {
    let shown = '';
    for (let start = 0; start < text.length; start += length)
      shown += await bytesOf('notes', { start, end: start + length - 1 });
    expect(shown).toBe(hidden);
    expect((await bytesOf('notes', { start: 10 })).toString()).toBe(hidden.slice(10));
    expect((await executor.download('notes', { start: 3, end: 4 })).sizeBytes).toBe(text.length);
    expect((await bytesOf('notes', { start: text.length })).length).toBe(0);
    for (const range of [{ start: text.length + 1 }, { start: 5, end: 2 }, { start: -1 }])
      await expect(executor.download('notes', range)).rejects.toMatchObject({ code: 'invalid-action' });
  });

  test('neither do the members of archives, nor their names', async () => {
    const tar = await filesOfTar(await bytesOf('.', { format: 'tar' }));
    const zip = await filesOfZip(await bytesOf('.', { format: 'zip' }));
    for (const files of [tar, zip]) {
      expect(files).toMatchObject({ notes: hidden, 'in/[hidden:API_TOKEN]/copy': hidden, 'in/link': 'copy' });
      expect(JSON.stringify(files)).not.toContain(secret);
      expect(JSON.stringify(files)).not.toContain(body.slice(0, 32));
    }
    expect(await filesOfZip(await bytesOf('notes', { format: 'zip' }))).toEqual({ notes: hidden });
  });

  test.each(['utf8', 'base64'] as const)('kept output in pieces shows none (%s)', async (encoding) => {
    const { id } = await runtime.processes.start(['cat', 'notes']);
    const { outputId } = await runtime.execute({ action: 'wait_process', id });
    let shown = '';
    for (let from = 0; ; ) {
      const piece = await runtime.execute({
        action: 'read_output',
        outputId,
        from,
        limitBytes: 3,
        encoding,
        stream: 'stdout',
      });
      shown += Buffer.from(piece.data, encoding).toString();
      from = piece.next;
      if (piece.complete) break;
    }
    expect(shown).not.toContain(secret.slice(0, 4));
    expect(shown).toMatch(/^before .*between .*after\r?\n$/s);
    for (const part of [secret.slice(4), Buffer.from(secret).toString('hex').slice(8, 14)])
      expect(shown).not.toContain(part);
  });

  test('neither does the output of a process from a position within one', async () => {
    const { id } = await runtime.processes.start(['cat', 'notes']);
    let shown = '';
    await runtime.execute(
      { action: 'wait_process', id, stdoutFrom: text.indexOf(secret) + 5 },
      {
        onProgress: (progress) => {
          if (progress.type === 'output-delta') shown += progress.text;
        },
      },
    );
    expect(shown).toMatch(/^\[hidden:API_TOKEN\] between \[hidden:API_TOKEN\] after\n$/);
    let rest = '';
    await runtime.execute(
      { action: 'wait_process', id, stdoutFrom: text.indexOf('after') },
      {
        onProgress: (progress) => {
          if (progress.type === 'output-delta') rest += progress.text;
        },
      },
    );
    expect(rest).toBe('after\n');
  });

  test('a terminal shows none, however its bytes are cut', async () => {
    const terminal = await runtime.terminals.open({ argv: ['sh', '-c', 'cat notes; cat key.pem'] });
    const chunks: Uint8Array[] = [];
    for await (const chunk of terminal.output) chunks.push(chunk);
    const shown = Buffer.concat(chunks).toString();
    expect(shown).toContain(hidden.trimEnd());
    for (const line of body.split('\n')) expect(shown).not.toContain(line);
  });

  test('a line of a key is hidden wherever it comes from', async () => {
    const [line = ''] = body.split('\n');
    expect((await runtime.run('sed -n 2p key.pem')).output.trim()).toBe('[hidden:SSH_KEY]');
    expect((await runtime.read('key.pem', { startLine: 2, endLine: 2 })).content).not.toContain(line);
  });
});

test('what differs between states of a workspace shows none, in paths and in patches', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'masked-'));
  await using runtime = await createRuntime({
    backend: 'sandbox',
    workspace: { from: directory, mode: 'overlay' },
    config: false,
    secrets: { API_TOKEN: { value: secret }, SSH_KEY: { value: key } },
  });
  try {
    const before = await runtime.checkpoint();
    await runtime.files.upload(Buffer.from(text), `in/${secret}`);
    await runtime.files.upload(Buffer.from(key), 'key.pem');
    const changes = await runtime.diff();
    expect(changes.map(({ path }) => path)).toEqual(['in', 'in/[hidden:API_TOKEN]', 'key.pem']);
    expect(changes[1]?.patch).toContain('+before [hidden:API_TOKEN] between [hidden:API_TOKEN] after\n');
    const answers = [
      changes,
      await runtime.apply(directory, { preview: true }),
      await runtime.rewind(before),
    ];
    expect(answers[2]).toMatchObject({ changes: [{}, { path: 'in/[hidden:API_TOKEN]' }, {}] });
    for (const part of [secret, ...body.split('\n')]) expect(JSON.stringify(answers)).not.toContain(part);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

async function filesOfTar(archive: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const unpacked = extract();
  Readable.from([archive]).pipe(unpacked as unknown as NodeJS.WritableStream);
  for await (const entry of unpacked) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk);
    files[entry.header.name] = entry.header.linkname ?? Buffer.concat(chunks).toString();
  }
  return files;
}

async function filesOfZip(archive: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', () => resolve(files));
    zip.on('entry', (entry) => {
      zip.openReadStream(entry, async (error, stream) => {
        if (error) return reject(error);
        const chunks: Uint8Array[] = [];
        for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk);
        files[entry.fileName] = Buffer.concat(chunks).toString();
        zip.readEntry();
      });
    });
    zip.readEntry();
  });
}
