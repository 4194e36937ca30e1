/** Kernels of other languages, many at once, in advance, and none at all. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRuntime } from '../../../../src/index.js';

describe.each(['cli', 'sandbox'] as const)('JavaScript on %s', (backend) => {
  test('keeps state, follows the shell, is interrupted, and goes on after errors', async () => {
    await using runtime = await createRuntime({ config: false, backend });
    const cell = (code: string, options = {}) =>
      runtime.runCode(code, { language: 'javascript', ...options });
    expect((await cell('let x = 20; x + 1')).text).toBe('21\n');
    expect((await cell('x * 2 + 2')).text).toBe('42\n');
    expect(await cell('throw new Error("bad")')).toMatchObject({ status: 'error', endedBy: 'exit' });
    await runtime.env.set({ COLOUR: 'red' });
    expect((await runtime.run('mkdir deep && cd deep')).exitCode).toBe(0);
    expect((await cell('process.cwd() + process.env.COLOUR')).text).toMatch(/\/deepred\n$/);
    expect(await cell('while (true) {}', { timeoutMs: 1500 })).toMatchObject({ endedBy: 'timeout' });
    expect((await cell('x')).text).toBe('20\n');
    // The same context of another language is another one.
    expect((await runtime.runCode('"py" + "thon"')).text).toBe("'python'\n");
    const { contexts } = await runtime.execute({ action: 'list_contexts' });
    expect(contexts.map(({ language }) => language).sort()).toEqual(['javascript', 'python']);
  });
});

test('fifty contexts at once each keep their own state', { timeout: 240_000 }, async () => {
  await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
  const names = Array.from({ length: 50 }, (_, index) => `context-${index}`);
  await Promise.all(names.map((context) => runtime.runCode(`mine = "${context}"`, { context })));
  const answers = await Promise.all(names.map((context) => runtime.runCode('print(mine)', { context })));
  expect(answers.map(({ text }) => text)).toEqual(names.map((name) => `${name}\n`));
});

test('with a spare kernel the first cell finds one running, with the variables of now', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'sandbox',
    plugins: [{ name: 'jupyter', options: { spare: 1 } }],
  });
  const spare = async () => (await runtime.execute({ action: 'list_contexts' })).spare;
  await expect.poll(spare, { timeout: 30_000 }).toBe(1);
  await runtime.env.set({ COLOUR: 'blue' });
  expect((await runtime.runCode('import os; os.environ["COLOUR"]')).text).toBe("'blue'\n");
});

test('where there is no kernel, the error and the list of plugins say how to get one', async () => {
  const place = mkdtempSync(join(tmpdir(), 'bare-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  await makeSystem(place);
  await using runtime = await createRuntime({
    config: false,
    backend: 'sandbox',
    rootfs: place,
    plugins: ['jupyter'],
  });
  const advice = expect.stringContaining('python3-ipykernel');
  await expect(runtime.runCode('1')).rejects.toMatchObject({ code: 'plugin-unavailable', message: advice });
  expect(await runtime.capabilities()).toMatchObject([
    { name: 'jupyter', state: 'unavailable', reason: advice },
  ]);
  expect((await runtime.run('echo works')).output).toBe('works\n');
});

/** A root file system with a shell and a few programs, and no Python. */
async function makeSystem(place: string): Promise<void> {
  for (const folder of ['bin', 'etc', 'usr', 'lib', 'lib64']) mkdirSync(join(place, folder));
  const programs = [
    'bash',
    'sh',
    'wc',
    'cat',
    'true',
    'mkfifo',
    'rm',
    'stty',
    'sleep',
    'setsid',
    'mkdir',
    'kill',
    'env',
  ];
  for (const name of programs) {
    const program = `/bin/${name}`;
    if (!existsSync(program)) continue;
    copyFileSync(program, join(place, 'bin', name));
    const { stdout } = await promisify(execFile)('ldd', [program]);
    for (const [library] of stdout.matchAll(/\/\S+\.so\S*/g)) {
      mkdirSync(join(place, dirname(library)), { recursive: true });
      copyFileSync(library, join(place, library));
    }
  }
}
