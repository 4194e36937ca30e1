/** What the shells offer at the Tab key, asked in the shells themselves. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workcell } from './workcell.js';

const place = mkdtempSync(join(tmpdir(), 'completion-'));
const scriptOf = (shell: string) => join(place, `script.${shell}`);
const env = { PATH: `${place}${delimiter}${process.env.PATH}`, HOME: place, TERM: 'dumb' };

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(scriptOf(shell), (await workcell(['completion', shell])).stdout);
  // Two kept cells, which a shell asks for, and nothing else that the command line would do.
  const cells = '[{"id":"3f9a0000","backend":"sandbox"},{"id":"77aa0000","backend":"sandbox"}]';
  const program = `#!/bin/sh\n[ "$*" = 'cells --json' ] && echo '${cells}' || echo "called with $*"\n`;
  writeFileSync(join(place, 'workcell'), program, { mode: 0o755 });
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function inBash(line: string): string[] {
  const words = line.split(' ').map((word) => `'${word}'`);
  const ask = `COMP_WORDS=(workcell ${words.join(' ')}); COMP_CWORD=${words.length}; _workcell; echo "\${COMPREPLY[*]}"`;
  const text = execFileSync('bash', ['-c', `source ${scriptOf('bash')}\n${ask}`], { encoding: 'utf8', env });
  return text.trim().split(' ');
}

function inFish(line: string): string[] {
  const ask = `source ${scriptOf('fish')}; complete -C 'workcell ${line}'`;
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', ask], {
    encoding: 'utf8',
    env,
    cwd: place,
  });
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((row) => row.split('\t')[0] ?? '');
}

test.each([
  ['bash', inBash],
  ['fish', inFish],
])('%s completes commands at every depth, options, and names of backends and cells', (_shell, complete) => {
  expect(complete('doc')).toEqual(['doctor']);
  expect(complete('cells st')).toEqual(['stop']);
  expect(complete('plugins ad')).toEqual(['add']);
  expect(complete('completion fi')).toEqual(['fish']);
  expect(complete('run --works')).toEqual(['--workspace']);
  expect(complete('cells stop --js')).toEqual(['--json']);
  expect(complete('run --backend ub')).toEqual(['ubuntu-docker']);
  expect(complete('run -b san')).toEqual(['sandbox']);
  expect(complete('audit export --format o')).toEqual(['ocsf']);
  expect(complete('run --attach 3f')).toEqual(['3f9a0000']);
  expect(complete('cells stop 7')).toEqual(['77aa0000']);
  expect(complete('cells stop 3f9a0000 7')).toEqual(['77aa0000']);
  expect(complete('ps ').sort()).toEqual(['3f9a0000', '77aa0000']);
});

test('zsh completes the same at its prompt', async () => {
  const shell = spawn('zsh', ['-f', '-i'], {
    cwd: place,
    env: { ...env, ZDOTDIR: place },
    cols: 200,
    rows: 30,
  });
  let screen = '';
  let check = () => {};
  shell.onData((text) => {
    screen += text;
    check();
  });
  const ended = new Promise<never>((_resolve, reject) => {
    shell.onExit(() => reject(new Error(`zsh ended: ${screen}`)));
  });
  ended.catch(() => {});
  const shown = (text: string) =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => {
        check = () => {
          if (screen.includes(text)) resolve();
        };
        check();
      }),
    ]);
  try {
    shell.write(`source ${scriptOf('zsh')}; echo loa''ded\r`);
    await shown('loaded');
    for (const [typed, called] of [
      ['doc', 'doctor'],
      ['cells st', 'cells stop'],
      ['run --backend ub', 'run --backend ubuntu-docker'],
      ['run --attach 3f', 'run --attach 3f9a0000'],
    ]) {
      shell.write(`workcell ${typed}\t\r`);
      await shown(`called with ${called}`);
    }
  } finally {
    shell.kill('SIGKILL');
  }
});
