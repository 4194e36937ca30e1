/** Attacks a shell's reports and input where nothing isolates commands: only by what anybody could open. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../../../src/index.js';
import type { Tools } from '../../../../src/testing/abuse/case.js';
import { controlCases } from '../../../../src/testing/abuse/cases/control-cases.js';

/** The others look at every process and file of the machine, which is too much where the machine is not a cell. */
const ofTheShell = controlCases.filter(({ id }) => /^7[23]\./.test(id));

describe.each(['cli', 'local'] as const)('on %s', (backend) => {
  test.each(ofTheShell)('$id: $title', async ({ attack, neighbour }) => {
    await using runtime = await createRuntime({ config: false, backend });
    const tools = {} as Tools;
    expect(await attack(runtime, tools)).not.toBe('');
    await neighbour(runtime, tools);
  });
});

test('a command and its variables are in no file, and in no variable when it has ended', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const secret = randomBytes(12).toString('hex');
  const running = runtime.run(`: ${'x'.repeat(2000)}; until [ -e stop ]; do sleep 0.01; done`, {
    env: { HANDED_OVER: secret },
  });
  await runtime.run(':', { session: 'other' });
  expect(filesWith(secret)).toEqual([]);
  await runtime.write('stop', '');
  await running;
  const halves = `${secret.slice(0, 12)} ${secret.slice(12)}`;
  const { output } = await runtime.run(`{ set; env; } | grep -c -f <(printf %s%s ${halves})`);
  expect(output).toBe('0\n');
});

test('programs find no descriptor of the shell, whatever starts them', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const list = 'ls -l /proc/self/fd/ | grep -c socket';
  for (const command of [
    list,
    `trap '${list}' DEBUG; :; trap - DEBUG`,
    `PS4='$(${list})'; set -x; : ; set +x`,
    `(${list}); { ${list}; } | cat; echo "$(${list})"; cat <(${list})`,
    `exec 10>/dev/null 3>/dev/null; ${list}`,
  ]) {
    const { output } = await runtime.run(command);
    expect(output, command).toMatch(/^(\D*0\D*)+$/);
  }
});

test('an interrupt at any moment loses no command and runs none twice', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const { output } = await runtime.run('echo $$');
  const shell = Number(output);
  for (let round = 0; round < 100; round++) {
    const running = runtime.run(`echo ${round} >>log`);
    process.kill(shell, 'SIGINT');
    const { exitCode } = await running;
    expect([0, 1, 130]).toContain(exitCode);
  }
  const log = (await runtime.run('cat log')).output.trim().split('\n');
  expect(new Set(log).size).toBe(log.length);
  expect((await runtime.run('echo "works $((1 + 1))"')).output).toContain('works 2\n');
});

/** Among the files that this process made for itself. */
function filesWith(text: string): string[] {
  const own = `workcell-${process.geteuid?.()}`;
  const places = ['/dev/shm', tmpdir()]
    .map((root) => join(root, own))
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((name) => join(root, name)))
    .filter((place) => place.includes(`-${process.pid}-`));
  expect(places).not.toEqual([]);
  return places
    .flatMap((place) => readdirSync(place, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path, 'latin1').includes(text));
}
