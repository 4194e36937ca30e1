/** An adapter in a process of its own, asked by lines of JSON. It times what it does itself, so the lines cost nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Ask =
  | { readonly do: 'open' | 'close'; readonly place: number }
  | { readonly do: 'run'; readonly place: number; readonly command: string; readonly output: string }
  | {
      readonly do: 'write';
      readonly place: number;
      readonly paths: readonly string[];
      readonly content: string;
    }
  | { readonly do: 'read'; readonly place: number; readonly path: string; readonly content: string }
  | { readonly do: 'code'; readonly place: number; readonly source: string; readonly output: string };

export type Timed = { readonly ms: number } | { readonly error: string };

export interface Link extends AsyncDisposable {
  readonly pid: number;
  /** All of them at once; the time until the last has answered. */
  ask(asks: readonly Ask[]): Promise<Timed>;
}

/** Processes of a peer have it in their environment, also those that left its process tree. */
export const markVariable = 'WORKCELL_BENCH_PEER';

/** Longer than this nothing here takes, unless it hangs. */
const longestMs = 120_000;

export function startAdapter(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { ownNetwork, cwd }: { readonly ownNetwork: boolean; readonly cwd: string },
): Link {
  const [program = '', ...rest] = ownNetwork ? [...inOwnNetwork, ...argv] : argv;
  const child: ChildProcess = spawn(program, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd,
  });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    complaint = (complaint + piece).slice(-2000);
  });
  let late = false;
  const waiting: ((answer: Timed) => void)[] = [];
  const ended = once(child, 'exit').then(([code, signal]) => {
    const last = complaint.trim().split('\n').at(-1) ?? '';
    for (const answer of waiting.splice(0))
      answer({
        error: late
          ? `It took longer than ${longestMs / 1000} seconds.`
          : `It ended with ${code ?? signal}. ${last}`,
      });
  });
  child.stdin?.on('error', () => {});
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      // What a library prints is no answer.
      if (line.startsWith('{"ms"') || line.startsWith('{"error"'))
        waiting.shift()?.(JSON.parse(line) as Timed);
    });
  return {
    pid: child.pid ?? 0,
    ask(asks) {
      if (child.exitCode !== null || child.signalCode !== null)
        return Promise.resolve({ error: `It has ended. ${complaint.trim().split('\n').at(-1) ?? ''}` });
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          late = true;
          child.kill('SIGKILL');
        }, longestMs);
        waiting.push((answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        child.stdin?.write(`${JSON.stringify(asks)}\n`);
      });
    },
    async [Symbol.asyncDispose]() {
      const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
      child.stdin?.end();
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Some servers listen on all addresses of the machine. Here nobody else can reach them. */
const inOwnNetwork = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
