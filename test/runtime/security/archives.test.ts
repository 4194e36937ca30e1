/** The guards judge an archive by what it would write, before it writes any of it. */
import { pack } from 'tar-stream';
import { expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { createRuntime, type Runtime } from '../../../src/index.js';
import { rules } from '../../../src/runtime/security/index.js';

function tarOf(names: readonly string[]): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const name of names) archive.entry({ name }, 'x');
  archive.finalize();
  return archive as unknown as AsyncIterable<Uint8Array>;
}

function zipOf(names: readonly string[]): AsyncIterable<Uint8Array> {
  const archive = new ZipFile();
  for (const name of names) archive.addBuffer(Buffer.from('x'), name);
  archive.end();
  return archive.outputStream as unknown as AsyncIterable<Uint8Array>;
}

async function guarded(use: (runtime: Runtime) => Promise<void>, policy = {}): Promise<void> {
  await using runtime = await createRuntime({ backend: 'sandbox', config: false, guards: [rules()], policy });
  await use(runtime);
}

test.each([
  ['tar', tarOf],
  ['zip', zipOf],
] as const)('a %s over the home is refused whole, and its neighbour is unpacked', async (format, make) => {
  await guarded(async (runtime) => {
    const home = (await runtime.run('echo "$HOME"')).output.trim();
    const bad = runtime.files.upload(make(['notes.txt', '.bashrc']), home, { format });
    await expect(bad).rejects.toMatchObject({ code: 'denied', details: { risk: 'high' } });
    const hook = runtime.files.upload(make(['a', '.git/hooks/post-checkout']), '.', { format });
    await expect(hook).rejects.toMatchObject({ code: 'denied' });
    expect((await runtime.run(`ls -A ${home}/notes.txt a 2>/dev/null | wc -l`)).output.trim()).toBe('0');
    expect((await runtime.files.upload(make(['src/app.ts', 'b']), '.', { format })).files).toBe(2);
    expect((await runtime.read('src/app.ts')).content).toBe('x');
  });
});

test('a rule about a path holds for the members of an archive, and the record has them', async () => {
  const policy = { rules: [{ decision: 'deny', path: '**/secret/**' }] };
  await guarded(async (runtime) => {
    await expect(
      runtime.files.upload(tarOf(['a', 'x/secret/y']), '.', { format: 'tar' }),
    ).rejects.toMatchObject({ code: 'denied', details: { by: 'rule' } });
    const found = [];
    for await (const event of runtime.events.since(0, { kinds: ['action', 'error'] })) {
      if (event.kind === 'error') break;
      found.push(event.kind === 'action' && event.action);
    }
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(found).toMatchObject([{ action: 'upload', members: ['a', 'x/secret/y'], sha256 }]);
  }, policy);
});

test('names that unpacking refuses are refused before anything is written', async () => {
  await guarded(async (runtime) => {
    for (const name of ['../out', '/etc/out', 'n'.repeat(300)])
      await expect(
        runtime.files.upload(tarOf(['early', name]), '.', { format: 'tar' }),
      ).rejects.toMatchObject({ code: 'archive-refused' });
    expect(await runtime.files.list('.')).toEqual([]);
  });
});

test('an archive that cannot be read writes nothing', async () => {
  await guarded(async (runtime) => {
    const broken = (async function* () {
      yield Buffer.alloc(2048, 7);
    })();
    await expect(runtime.files.upload(broken, '.', { format: 'tar' })).rejects.toThrow();
    expect((await runtime.run('ls -A')).output).toBe('');
    for await (const event of runtime.events.since(0, { kinds: ['action'] })) {
      expect(event).toMatchObject({ action: { action: 'upload', path: '.' } });
      break;
    }
  });
});
