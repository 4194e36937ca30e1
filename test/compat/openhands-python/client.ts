/** Published clients of OpenHands in Python, each in a process of its own. */
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
/** Where `scripts/setup --tests` installs it. */
const python = join(cache, 'workcell/openhands-clients/bin/python');

export interface PythonClient extends AsyncDisposable {
  /** Calls a method of the client; what it raises is an error with the name of its class. */
  call(method: string, ...args: unknown[]): Promise<unknown>;
}

export interface PythonClientOptions {
  /** The script that makes the client, next to its test. */
  readonly script: URL;
  readonly url: string;
  readonly key: string;
  readonly directory: string;
}

export function startPythonClient({ script, url, key, directory }: PythonClientOptions): PythonClient {
  const child = spawn(python, ['-W', 'ignore', fileURLToPath(script), url, key, directory], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: directory,
      PYTHONPATH: fileURLToPath(new URL('.', import.meta.url)),
      PYTHONDONTWRITEBYTECODE: '1',
      LOG_LEVEL: 'ERROR',
    },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.on('error', (error) => {
    errors += `${error.message}; scripts/setup --tests installs it.`;
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let turn: Promise<unknown> = Promise.resolve();

  async function exchange(line: string): Promise<unknown> {
    child.stdin.write(`${line}\n`);
    const { value, done } = await answers.next();
    if (done) {
      await closed;
      throw new Error(`The client ended: ${errors}`);
    }
    const answer = JSON.parse(value as string) as { value?: unknown; raised?: string; text: string };
    if (answer.raised !== undefined) throw Object.assign(new Error(answer.text), { name: answer.raised });
    return answer.value;
  }

  function call(method: string, ...args: unknown[]): Promise<unknown> {
    const next = () => exchange(JSON.stringify([method, ...args]));
    const answered = turn.then(next, next);
    turn = answered;
    return answered;
  }

  return {
    call,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
    },
  };
}
