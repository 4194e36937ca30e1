import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aiSdkSandbox } from '../../src/adapters/ai-sdk.js';
import type { Runtime } from '../../src/index.js';
import { compile, obstacle, patience, runProgram } from './frameworks.js';
import { runtimeWithTool } from './runtime.js';

describe.skipIf(obstacle)(obstacle ?? 'with the AI SDK', patience, () => {
  test('an agent calls tools in the cell and has it as its sandbox', () => {
    expect(runProgram('ai-sdk-agent.ts')).toEqual({ status: 0, output: '' });
  });

  test('the shapes are those that the AI SDK declares', () => {
    const source = `
      import type { Experimental_SandboxSession, ToolSet } from 'ai';
      import type { Runtime } from 'workcell';
      import { aiSdkSandbox, aiSdkTools } from 'workcell/adapters/ai-sdk';
      declare const runtime: Runtime;
      export const session: Experimental_SandboxSession = aiSdkSandbox(runtime);
      export const tools: ToolSet = aiSdkTools(runtime);`;
    expect(compile(source)).toBe('');
  });
});

describe('the sandbox session', () => {
  let runtime: Runtime;
  let session: ReturnType<typeof aiSdkSandbox>;
  beforeAll(async () => {
    runtime = await runtimeWithTool();
    session = aiSdkSandbox(runtime);
  });
  afterAll(() => runtime.close());

  test('files are written with their folders and read as text, bytes, lines or a stream', async () => {
    await session.writeTextFile({ path: 'a/b/lines.txt', content: 'one\ntwo\nthree' });
    expect(await session.readTextFile({ path: 'a/b/lines.txt' })).toBe('one\ntwo\nthree');
    expect(await session.readTextFile({ path: 'a/b/lines.txt', startLine: 2, endLine: 2 })).toBe('two\n');
    expect(await session.readTextFile({ path: 'a/b/lines.txt', startLine: 2, endLine: 99 })).toBe(
      'two\nthree',
    );
    expect(await session.readTextFile({ path: 'a/b/lines.txt', startLine: 3 })).toBe('three');
    expect(await session.readTextFile({ path: 'a/b/lines.txt', startLine: 4 })).toBe('');
    expect(await session.readTextFile({ path: 'a/b/lines.txt', startLine: 1, endLine: 1 })).toBe('one\n');
    const bytes = Uint8Array.from([0, 255, 10]);
    await session.writeBinaryFile({ path: 'bytes', content: bytes });
    expect(new Uint8Array((await session.readBinaryFile({ path: 'bytes' })) ?? [])).toEqual(bytes);
    await session.writeFile({ path: 'copy', content: (await session.readFile({ path: 'bytes' })) ?? bad() });
    expect(new Uint8Array((await session.readBinaryFile({ path: 'copy' })) ?? [])).toEqual(bytes);
    await session.writeTextFile({ path: 'wide', content: 'é', encoding: 'utf-16le' });
    expect(await session.readTextFile({ path: 'wide', encoding: 'utf-16le' })).toBe('é');
  });

  test('a file that is longer than memory is refused', async () => {
    await runtime.run('truncate -s 8T endless');
    await expect(session.readTextFile({ path: 'endless' })).rejects.toMatchObject({ code: 'file-too-large' });
  });

  test('what is not there is null, what is no directory is refused', async () => {
    expect(await session.readFile({ path: 'none' })).toBe(null);
    expect(await session.readTextFile({ path: 'none' })).toBe(null);
    expect(await session.stat({ path: 'none' })).toBe(null);
    expect(await session.listDirectory({ path: 'none' })).toBe(null);
    expect(await session.deleteFile({ path: 'none' })).toBe(false);
    await session.writeTextFile({ path: 'plain', content: '' });
    await expect(session.listDirectory({ path: 'plain' })).rejects.toMatchObject({ code: 'not-a-directory' });
  });

  test('links are followed by stat, listed as links, and deleted themselves', async () => {
    await runtime.run('mkdir -p d/e && printf 12345 > d/target && ln -s target d/link && ln -s loop d/loop');
    expect(await session.stat({ path: 'd/link' })).toEqual({ type: 'file', size: 5 });
    expect(await session.stat({ path: 'd/loop' })).toMatchObject({ type: 'other' });
    expect(await session.listDirectory({ path: 'd' })).toEqual([
      { name: 'e', type: 'directory' },
      { name: 'link', type: 'symlink' },
      { name: 'loop', type: 'symlink' },
      { name: 'target', type: 'file' },
    ]);
    expect(await session.deleteFile({ path: 'd/link' })).toBe(true);
    expect(await session.stat({ path: 'd/target' })).toMatchObject({ type: 'file' });
    await expect(session.deleteFile({ path: 'd/e' })).rejects.toMatchObject({ code: 'not-a-file' });
  });

  test('a command gives its output and code, in its directory and with its variables', async () => {
    await runtime.run('mkdir -p sub');
    const command = 'echo "$WORD in $(basename "$PWD")"; echo no >&2; exit 3';
    expect(await session.run({ command, workingDirectory: 'sub', env: { WORD: 'here' } })).toEqual({
      exitCode: 3,
      stdout: 'here in sub\n',
      stderr: 'no\n',
    });
    expect(await session.run({ command: 'kill -TERM $$' })).toMatchObject({ exitCode: 143 });
  });

  test('a process is talked to, and a reader that is slow holds it back', async () => {
    const process = await session.spawn({ command: 'read -r line; echo "got $line"; cat', stdin: true });
    const writer = process.stdin.getWriter();
    await writer.write(Buffer.from('this\nand that'));
    await writer.close();
    expect(await text(process.stdout)).toBe('got this\nand that');
    expect(await process.wait()).toEqual({ exitCode: 0 });
    const much = await session.spawn({ command: 'head -c 5000000 /dev/zero | tr "\\0" x; echo end >&2' });
    expect((await text(much.stdout)).length).toBe(5_000_000);
    expect(await text(much.stderr)).toBe('end\n');
  });

  test('kill and abort end a process with all it started', async () => {
    const killed = await session.spawn({ command: 'sleep 60 & wait' });
    await killed.kill();
    expect(await killed.wait()).toEqual({ exitCode: 137 });
    await killed.kill();
    const stop = new AbortController();
    const aborted = await session.spawn({ command: 'sleep 60', abortSignal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(aborted.wait()).rejects.toThrow('enough');
    const late = { command: 'sleep 60', abortSignal: AbortSignal.timeout(100) };
    await expect(session.run(late)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

function bad(): never {
  throw new Error('the file should be there');
}
