/** What the operating system and Node cost without us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** One program, started and waited for. */
export async function rawSpawn(file: string, args: readonly string[] = []): Promise<void> {
  const child = spawn(file, args, { stdio: 'ignore' });
  await once(child, 'exit');
}

/** A bash at the other end of a pipe: sends it one line, waits for the answer. */
export function pipedBash(): { run(command: string): Promise<void>; close(): void } {
  const child: ChildProcess = spawn('bash', ['--norc'], { stdio: ['pipe', 'pipe', 'ignore'] });
  let answered = () => {};
  child.stdout?.on('data', () => answered());
  return {
    run(command) {
      return new Promise((resolve) => {
        answered = resolve;
        child.stdin?.write(`${command}; printf .\n`);
      });
    },
    close: () => void child.kill('SIGKILL'),
  };
}

/** The namespaces of a cell over the same system directories, made by bubblewrap alone for one short command. */
export function bareBubblewrap(): Promise<void> {
  return rawSpawn('bwrap', [
    ...['user', 'pid', 'net', 'ipc', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`),
    '--die-with-parent',
    ...['/usr', '/etc'].flatMap((path) => ['--ro-bind', path, path]),
    ...['/bin', '/sbin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--', 'bash', '-c', 'true'],
  ]);
}
