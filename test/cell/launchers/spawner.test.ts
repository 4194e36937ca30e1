import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFleeting } from '../../../src/cell/launchers/scratch.js';
import { prepareSpawner, runBeside, startBeside, waitBeside } from '../../../src/cell/launchers/spawner.js';

const directory = makeFleeting('test');

function script(name: string, source: string): string {
  const path = join(directory, name);
  writeFileSync(path, source);
  return path;
}

test('a program is started with what its script gives it, and nothing else', async () => {
  const output = join(directory, 'output');
  const program = 'cat /proc/self/status /proc/self/environ';
  const pid = await startBeside(script('plain', `exec >'${output}' && exec -c /bin/sh -c 'exec ${program}'`));
  expect(await waitBeside(pid)).toBe(0);
  const shown = readFileSync(output, 'latin1');
  expect(shown).toMatch(new RegExp(`^Pid:\\t${pid}$`, 'm'));
  expect(shown).toMatch(/^SigIgn:\t0+$/m);
  expect(shown).not.toContain('PATH=');
});

test('its end is waited for, however it came', async () => {
  const [exits, killed] = await Promise.all([
    startBeside(script('exits', 'exec sh -c "exit 7"')),
    startBeside(script('killed', 'exec sh -c "kill -9 $BASHPID"')),
  ]);
  expect(await waitBeside(exits)).toBe(7);
  expect(await waitBeside(killed)).toBe(137);
  expect([exits, killed].filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
});

test('a short program that fails tells why, in one line', async () => {
  prepareSpawner();
  expect(await runBeside(['/bin/sh', '-c', 'echo one'])).toBeUndefined();
  expect(await runBeside(['/bin/sh', '-c', 'echo "it\'s"; echo two >&2; exit 3'])).toBe("it's two");
  expect(await runBeside(['/bin/sh', '-c', 'exit 3'])).toBe('exit code 3');
});
