import { expect, test } from 'vitest';
import { startOnTerminal, withDirectory, workcell } from './workcell.js';

test('a shell answers what is typed, in the workspace, and its exit code is passed through', () =>
  withDirectory(async (workspace) => {
    const shell = startOnTerminal(['shell', '--backend', 'cli', '--workspace', workspace]);
    shell.pty.write('echo "in $PWD, $((6 * 7))"\r');
    await shell.printed(`in ${workspace}, 42`);
    shell.pty.write('exit 9\r');
    expect((await shell.ended).exitCode).toBe(9);
  }));

test('the size of the terminal follows, and Ctrl-C stays inside', () =>
  withDirectory(async (workspace) => {
    const shell = startOnTerminal(['shell', '--backend', 'cli', '--workspace', workspace]);
    shell.pty.write('echo "size $(stty size)"\r');
    await shell.printed('size 30 100');
    shell.pty.write(`until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo res''ized\r`);
    shell.pty.resize(120, 40);
    await shell.printed('resized');
    shell.pty.write(`(trap 'echo inter""rupted; exit' INT; echo sle""eping; while :; do sleep 0.05; done)\r`);
    await shell.printed('sleeping');
    shell.pty.write('\x03');
    await shell.printed('interrupted');
    shell.pty.write('exit\r');
    await shell.ended;
  }));

test('without a terminal it says what to use instead', async () => {
  const { stderr, exitCode } = await workcell(['shell', '--backend', 'cli']);
  expect(stderr).toMatch(/^workcell: workcell shell needs a terminal.*workcell run/);
  expect(exitCode).toBe(69);
});
