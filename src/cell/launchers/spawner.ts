/**
 * A small shell beside this process that starts programs for it. Node forks to start one, and copying a process of
 * its size takes milliseconds in which this thread stands still; copying a shell takes a tenth.
 *
 * It is an interactive bash, because that survives a failing fork, with job control, because without it programs
 * would start with interrupts ignored. It ends with this process, by the end of its input, and can end what it
 * started at the same time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { hostProgram } from '../../base/find-program.js';
import { quote } from '../../base/shell-quote.js';
import { WorkcellError } from '../../protocol/index.js';
import { withHiddenDescriptors } from './inheritance.js';

/** Starts it while the caller does something else. */
export function prepareSpawner(): void {
  spawner ??= startSpawner();
}

/** Runs the shell source in the file in a separate process and returns its pid. The source ends in `exec`. */
export async function startBeside(file: string): Promise<number> {
  const pid = Number(await ask(`started=\n. ${quote(file)} & started=$!\necho "$started"\n`));
  if (pid > 0) return pid;
  throw new WorkcellError('spawn-failed', 'This machine cannot start another process; end some first.');
}

/** Waits for the end of a process that is ending, so that nothing of it remains. Returns its exit code. */
export async function waitBeside(pid: number): Promise<number> {
  return Number(await ask(`wait ${pid}; echo "$?"\n`));
}

/**
 * Runs a short program and returns what it said, in one line, if it failed. Undefined where there is no such shell yet, which
 * is not worth starting for one program.
 */
export function runBeside(argv: readonly string[]): Promise<string | undefined> | undefined {
  if (spawner === undefined) return undefined;
  const source = `said=$(${argv.map(quote).join(' ')} 2>&1) && said= || said="\${said:-exit code $?}"; echo "\${said//$'\\n'/ }"\n`;
  return ask(source).then((said) => said || undefined);
}

interface Question {
  answer(reply: string): void;
  fail(error: Error): void;
}

interface Spawner {
  readonly child: ChildProcess;
  /** In the order of the requests, which is also the order of the replies. */
  readonly questions: Question[];
}

let spawner: Spawner | undefined;

function ask(source: string): Promise<string> {
  spawner ??= startSpawner();
  const { child, questions } = spawner;
  return new Promise((resolve, reject) => {
    questions.push({ answer: resolve, fail: reject });
    (child.stdout as Socket).ref();
    (child.stdin as Writable).write(source);
  });
}

function startSpawner(): Spawner {
  const child = spawn(hostProgram('bash'), ['--norc', '--noprofile', '--noediting', '-i'], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    detached: true,
    stdio: withHiddenDescriptors(['pipe', 'pipe', 'ignore']),
  });
  const started: Spawner = { child, questions: [] };
  let pending = '';
  const end = (error: Error) => {
    if (spawner === started) spawner = undefined;
    for (const { fail } of started.questions.splice(0)) fail(error);
  };
  (child.stdout as Readable).on('data', (chunk: Buffer) => {
    const lines = (pending + chunk.toString('latin1')).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) started.questions.shift()?.answer(line);
    if (started.questions.length === 0) (child.stdout as Socket).unref();
  });
  (child.stdin as Writable).on('error', () => {});
  child.once('error', (cause) =>
    end(
      new WorkcellError('shell-missing', 'Workcell needs the program "bash" on this machine; install it.', {
        cause,
      }),
    ),
  );
  child.once('exit', () =>
    end(new WorkcellError('spawn-failed', 'The shell that starts programs has ended.')),
  );
  // Cells and open questions keep this process alive, but the spawner does not.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Socket).unref();
  (child.stdin as Writable).write('set -m\n');
  return started;
}
