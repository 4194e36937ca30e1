import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import type { BubblewrapLauncher } from '../../../../src/cell/launchers/bubblewrap/bubblewrap-launcher.js';
import { familyOf } from '../../../../src/cell/launchers/bubblewrap/cell-processes.js';
import { cellEnvironment } from '../../../../src/cell/launchers/bubblewrap/layout.js';
import { killTree } from '../../../../src/cell/launchers/kill-tree.js';
import type { LaunchedPty } from '../../../../src/cell/launchers/launcher.js';
import { collect, complete, inCell, startLauncher, watch } from './start.js';

const size = { columns: 80, rows: 24 };

test('a program has its pipes, ends of input and exit code to itself', async () => {
  await using launcher = await startLauncher();
  const result = await complete(launcher, 'cat; echo err >&2; exit 3', 'in');
  expect(result).toEqual({ exitCode: 3, signal: null, stdout: 'in', stderr: 'err\n' });
});

test('an exit code above 128 is no signal, and a signal is no exit code', async () => {
  await using launcher = await startLauncher();
  expect(await complete(launcher, 'exit 137')).toMatchObject({ exitCode: 137, signal: null });
  expect(await complete(launcher, 'kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  expect(await complete(launcher, 'kill -INT $$')).toMatchObject({ exitCode: null, signal: 'SIGINT' });
});

test.each([
  [['no-such-program'], '/workspace', 'spawn-failed'],
  [['true'], '/no/such/place', 'not-found'],
  [['true'], '/etc/passwd', 'not-a-directory'],
])('%s in %s is refused with %s', async (argv, cwd, code) => {
  await using launcher = await startLauncher();
  await expect(launcher.spawn(argv, { ...inCell, cwd })).rejects.toMatchObject({ code });
});

test('a program has only the descriptors it was given', async () => {
  await using launcher = await startLauncher();
  const count = async (pid: string) => {
    const { stdout, stdin, stderr } = await launcher.spawn(['ls', `/proc/${pid}/fd`], inCell);
    for (const stream of [stdin, stderr]) stream.destroy();
    return (await collect(stdout)).trim().split('\n');
  };
  // The last one of its own is the directory that it reads.
  expect(await count('self')).toEqual(['0', '1', '2', '3']);
  expect(await count('1')).toEqual(['0', '1', '2', '3']);
});

test('no program of the cell is put between a shell and its channel, whatever the search path', async () => {
  await using launcher = await startLauncher();
  const names = 'setsid bash script stty tty';
  const trap = `#!/bin/sh\ntouch /tmp/taken; exec /usr/bin/\${0##*/} "$@"\n`;
  await complete(
    launcher,
    `for name in ${names}; do cat >/tmp/$name <<'END'\n${trap}END\nchmod +x /tmp/$name; done`,
  );
  const env = { ...cellEnvironment, PATH: `/tmp:${cellEnvironment.PATH}` };
  for (const _ of ['the terminal of the cell', 'one that is made']) {
    const pty = await launcher.openPty([launcher.bash, '-c', 'read -r -u 3 word; echo $word'], {
      cwd: '/workspace',
      env,
      ...size,
      channel: true,
    });
    const shown = watch(pty);
    pty.channel?.write('answer\n');
    expect(await shown).toContain('answer');
  }
  expect(await complete(launcher, 'ls /tmp/taken')).toMatchObject({ exitCode: 2 });
});

/** Outside of a cell the command would end everything on this machine, so there it ends itself. */
const exitOutside = `[ "$(readlink /proc/self/ns/pid)" != '${readlinkSync('/proc/self/ns/pid')}' ] || exit 99; `;

test('a program that kills all it can see ends neither the cell nor the next program', async () => {
  await using launcher = await startLauncher();
  const pty = await launcher.openPty(
    ['bash', '-c', `${exitOutside}kill -9 -1; kill -9 1; kill -TERM 1; echo left; exit 4`],
    { ...inCell, ...size },
  );
  expect(await watch(pty)).toContain('left');
  expect(await complete(launcher, 'echo next')).toMatchObject({ stdout: 'next\n', exitCode: 0 });
});

test('every terminal is a controlling one of a session of its own, with its size', async () => {
  await using launcher = await startLauncher();
  const program = [
    'bash',
    '-c',
    'test $(ps -o sid= -p $$) = $$ && : >/dev/tty && stty size && tty && sleep 0.01; exit 7',
  ];
  for (const name of ['/dev/console', '/dev/pts/0', '/dev/pts/0']) {
    const pty = await launcher.openPty(program, { ...inCell, ...size });
    expect(await watch(pty)).toBe(`24 80\r\n${name}\r\n`);
    expect(await pty.exited).toEqual({ exitCode: 7, signal: null });
  }
});

test('a further terminal takes input and a new size', async () => {
  await using launcher = await startLauncher();
  const first = await launcher.openPty(['sleep', '100'], { ...inCell, ...size });
  const second = await launcher.openPty(
    ['bash', '-c', 'trap "stty size" WINCH; echo ready; while read -r; do :; done'],
    {
      ...inCell,
      ...size,
    },
  );
  let shown = '';
  let resized = false;
  second.onData((chunk) => {
    shown += chunk;
    // A separate process sets the size, so the line may come before it; another follows each answer.
    if (shown.includes('ready') && !resized) second.resize(100, 30);
    resized = shown.includes('ready');
    // The program also shows the first size, which may arrive late; only the new one ends it.
    second.write(shown.includes('30 100') ? '\x04' : '\n');
  });
  await second.exited;
  expect(shown).toContain('30 100');
  launcher.signal([first.pid], 'SIGKILL');
  expect(await first.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
});

test('the exchange directory cannot be written from inside', async () => {
  await using launcher = await startLauncher();
  const { stderr } = await complete(launcher, 'cd /run/workcell; echo > x; ln -s /etc x; mkdir x');
  expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
});

test('file verbs follow a link to where it leads inside, and never through the process file system', async () => {
  await using launcher = await startLauncher();
  const tree = new Tree(launcher.files);
  try {
    await complete(
      launcher,
      'ln -s /etc/passwd own; ln -s /proc/1/root/etc/shadow escape; ln -s /proc/self/root up; echo x >/tmp/note',
    );
    const read = (path: string) => {
      const { fd } = tree.openFile(path, 0);
      return readFileSync(fd, 'utf8');
    };
    expect(read('own')).toContain('agent:x:1000');
    expect(read('/tmp/note')).toBe('x\n');
    for (const path of [
      'escape',
      'up/etc/shadow',
      '/proc/self/root/etc/hostname',
      '/proc/1/root',
      '/proc/1/environ',
    ])
      expect(() => read(path), path).toThrow();
  } finally {
    tree.close();
  }
});

test('a process that left its parent and its session is traced to its start', async () => {
  await using launcher = await startLauncher();
  const started = await launcher.spawn(['bash', '-c', 'setsid sleep 100 & exec sleep 100'], inCell);
  await expect.poll(() => launcher.processes().length).toBe(2);
  launcher.signal([started.pid], 'SIGKILL');
  await started.exited;
  const [orphan] = launcher.processes();
  expect(orphan).toMatchObject({ parentPid: started.pid });
});

test('a connection reaches a server inside, and a port without one is refused', async () => {
  await using launcher = await startLauncher();
  const server =
    'require("net").createServer((s) => s.on("data", (d) => s.end("got " + d))).listen(8080, () => console.log("up"))';
  const started = await launcher.spawn(['node', '-e', server], inCell);
  await new Promise((resolve) => started.stdout.once('data', resolve));
  const connection = await launcher.connect(8080);
  connection.write('hello');
  let answer = '';
  for await (const chunk of connection) answer += chunk;
  expect(answer).toBe('got hello');
  await expect(launcher.connect(8081)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('what is asked for before the cell is ready is under its limits too', async () => {
  let early: Promise<LaunchedPty> | undefined;
  await using launcher = await startLauncher({
    limits: { pids: 100, memoryBytes: 1 << 28 },
    onStarting({ openPty }) {
      early = openPty(['sleep', '100'], { ...inCell, ...size });
    },
  });
  const pty = await early;
  const { kind } = launcher.enforcement;
  const members = [...familyOf(launcher.hostPid)].map((pid) => readFileSync(`/proc/${pid}/cgroup`, 'latin1'));
  expect(members.length).toBeGreaterThanOrEqual(3);
  // Without a group of its own the limits are those of each process.
  if (kind !== 'process') for (const groups of members) expect(groups).toContain('/workcell-');
  pty?.close();
});

/** Tries every descriptor and the memory of every process that is not its own; prints what it could open. */
const burglar = `
import os
for pid in filter(str.isdigit, os.listdir('/proc')):
    if int(pid) == os.getpid(): continue
    for name in [f'fd/{number}' for number in range(300)] + ['mem', 'environ', 'maps', 'root', 'exe']:
        for mode in (os.O_RDONLY, os.O_WRONLY):
            try: os.open(f'/proc/{pid}/{name}', mode | os.O_NONBLOCK)
            except OSError: continue
            print(pid, open(f'/proc/{pid}/comm').read().strip(), name, mode)
print('tried')
`;

test('a program can open nothing of the first process, of shells, terminals and what reports on programs', async () => {
  await using launcher = await startLauncher();
  const shell = [launcher.bash, '--norc', '-i'];
  const pties = [
    await launcher.openPty(shell, { ...inCell, ...size, channel: true }),
    await launcher.openPty(shell, { ...inCell, ...size, channel: true }),
  ];
  const { stdin, stdout, stderr } = await launcher.spawn(['python3', '-c', burglar], inCell);
  for (const stream of [stdin, stderr]) stream.destroy();
  expect(await collect(stdout)).toBe('tried\n');
  for (const pty of pties) pty.close();
});

test('what is in the control directory can be neither listed nor watched, and its programs not read', async () => {
  await using launcher = await startLauncher();
  const source = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
control = b'/run/workcell/control'
print(libc.inotify_add_watch(libc.inotify_init(), control, 0xfff), os.access(control, os.R_OK), os.access(control + b'/bash', os.R_OK), os.access(control + b'/bash', os.X_OK))`;
  const { stdin, stdout, stderr } = await launcher.spawn(['python3', '-c', source], inCell);
  for (const stream of [stdin, stderr]) stream.destroy();
  expect(await collect(stdout)).toBe('-1 False False True\n');
});

test('a channel is descriptor 3 of the program, and of no other', async () => {
  await using launcher = await startLauncher();
  const argv = ['bash', '-c', 'read -r line <&3; echo "got $line"; echo /proc/self/fd/*'];
  for (const round of [1, 2]) {
    const pty = await launcher.openPty(argv, { ...inCell, ...size, channel: true });
    pty.channel?.write(`number ${round}\n`);
    const shown = await watch(pty);
    expect(shown).toMatch(
      new RegExp(`^got number ${round}\\r\\n/proc/self/fd/0( /proc/self/fd/[123]){3}( |\\r)`),
    );
  }
});

test('secrets of a program are in no file and no argument while it starts and when it has', async () => {
  await using launcher = await startLauncher();
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  const watcher = await launcher.spawn(
    [
      'bash',
      '-c',
      `exec 2>/dev/null; echo watching; while read -t 0; [ $? != 0 ]; do grep -rlsa "$0" /run/workcell /tmp /dev/shm; grep -lsa "$0" /proc/[0-9]*/cmdline | grep -v "/proc/$$/"; done; echo done`,
      `${secret.slice(0, -1)}[${secret.slice(-1)}]`,
    ],
    inCell,
  );
  const seen = collect(watcher.stdout);
  await new Promise((resolve) => watcher.stdout.once('data', resolve));
  const env = { ...cellEnvironment, SECRET: secret };
  for (let round = 0; round < 10; round++) {
    const program = await launcher.spawn(['printenv', 'SECRET'], { ...inCell, env });
    for (const stream of [program.stdin, program.stderr]) stream.destroy();
    expect(await collect(program.stdout)).toBe(`${secret}\n`);
    const pty = await launcher.openPty(['printenv', 'SECRET'], { ...inCell, ...size, env });
    expect(await watch(pty)).toBe(`${secret}\r\n`);
  }
  watcher.stdin.end('stop');
  expect(await seen).toBe('watching\ndone\n');
});

test('close ends everything and leaves nothing', async () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;
  await (await startLauncher()).close();
  const before = descriptors();
  const launcher = await startLauncher({ limits: { pids: 100, memoryBytes: 1 << 28 } });
  const { outside } = launcher.exchange;
  const running = await launcher.spawn(['sleep', '1000'], inCell);
  const pty = await launcher.openPty(['sleep', '1000'], { ...inCell, ...size });
  await launcher[Symbol.asyncDispose]();
  expect(await running.exited).toMatchObject({ signal: 'SIGKILL' });
  expect(await pty.exited).toMatchObject({ signal: 'SIGKILL' });
  pty.close();
  for (const stream of [running.stdin, running.stdout, running.stderr]) stream.destroy();
  expect(existsSync(outside)).toBe(false);
  expect(existsSync(`/proc/${launcher.hostPid}`)).toBe(false);
  await expect.poll(descriptors).toBe(before);
});

test('of the machine only what was given is there', async () => {
  await using launcher = await startLauncher();
  const { stdout } = await complete(launcher, 'ls /home /run; ls -d /root /work /var/log /sys 2>&1');
  expect(stdout.split('\n').slice(0, 5)).toEqual(['/home:', 'agent', '', '/run:', 'workcell']);
  expect(stdout.match(/No such file/g)).toHaveLength(4);
});

/** Each process starts another in a session of its own, without variables, and ends. */
const chain = 'import os\nwhile True:\n  if os.fork(): os._exit(0)\n  os.setsid()';

test('programs that start others and end without pause are all stopped for a moment, and go on', async () => {
  await using launcher = await startLauncher();
  const stopped = await launcher.spawn(['bash', '-c', 'kill -STOP $$; echo resumed'], inCell);
  await expect.poll(() => stateOf(launcher, stopped.pid)).toBe('T');
  const { exited } = await launcher.spawn(['env', '-i', '/usr/bin/python3', '-c', chain], inCell);
  await exited;
  const pids = () => launcher.processes().map((entry) => entry.pid);
  const [before, after, states] = await haltOf(launcher)(() => {
    const first = pids();
    return [first, pids(), first.map((pid) => stateOf(launcher, pid))];
  });
  expect(before.length).toBeGreaterThan(1);
  expect(after).toEqual(before);
  expect(new Set(states)).toEqual(new Set(['T']));
  await expect.poll(pids).not.toEqual(before);
  expect(stateOf(launcher, stopped.pid)).toBe('T');
});

test('programs that start others and end without pause are killed to the last', async () => {
  await using launcher = await startLauncher();
  const neighbour = await launcher.spawn(['sleep', '1000'], inCell);
  const { pid, exited } = await launcher.spawn(['env', '-i', '/usr/bin/python3', '-c', chain], inCell);
  await exited;
  await killTree(launcher, [pid], 'SIGKILL');
  const left = await haltOf(launcher)(() => launcher.processes().map((entry) => entry.pid));
  expect(left).toEqual([neighbour.pid]);
});

test('shells on any terminal go on after their processes were stopped', async () => {
  await using launcher = await startLauncher();
  const shells = await Promise.all(
    [0, 1].map(() => launcher.openPty(['bash', '-i'], { ...inCell, ...size })),
  );
  const shown = shells.map((shell) => {
    let text = '';
    shell.onData((chunk) => {
      text += chunk.toString();
    });
    return () => text;
  });
  for (const shell of shells) void shell.write('cat\necho status $?\n');
  for (const text of shown) await expect.poll(text).toContain('cat\r\n');
  await expect.poll(() => launcher.processes()).toHaveLength(4);
  (await launcher.freeze())();
  await haltOf(launcher)(() => {});
  for (const shell of shells) void shell.write('still\n\x04echo end $((40 + 2)) $?\n');
  for (const text of shown) {
    await expect.poll(text, { timeout: 10_000 }).toContain('end 42 0');
    expect(text()).not.toContain('Stopped');
  }
});

test('neighbours do not notice halts in which others are killed', async () => {
  await using launcher = await startLauncher();
  const shell = await launcher.openPty(['bash', '--norc', '-i'], { ...inCell, ...size });
  const shown = watch(shell);
  // Each is young, has a parent that waits for it, and starts and ends while others stop and go on.
  void shell.write(
    'PS1=; for n in {1..400}; do bash -c "bash -c :; :" || echo status $?; done; echo all $((40 + 2)); exit\n',
  );
  let isOver = false;
  void shell.exited.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const doomed = await Promise.all(
      Array.from({ length: 4 }, () => launcher.spawn(['bash', '-c', 'sleep 1000 & wait'], inCell)),
    );
    const groups = new Set(doomed.map(({ pid }) => pid));
    await haltOf(launcher)(() => {
      const members = launcher.processes().filter(({ groupId }) => groups.has(groupId));
      launcher.signal(
        members.map(({ pid }) => pid),
        'SIGKILL',
      );
    });
    await Promise.all(doomed.map(({ exited }) => exited));
  }
  const text = await shown;
  expect(text).toContain('all 42');
  expect(text).not.toMatch(/status \d|Stopped/);
});

function haltOf(launcher: BubblewrapLauncher) {
  if (launcher.whileHalted === undefined) throw new Error('This launcher cannot halt its cell.');
  return launcher.whileHalted;
}

function stateOf(launcher: BubblewrapLauncher, pid: number): string | undefined {
  const line = readFileSync(`${launcher.files.root}/proc/${pid}/stat`, 'latin1');
  return line[line.lastIndexOf(')') + 2];
}
