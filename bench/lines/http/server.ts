/** The servers of the command line as a person would start them, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ExecutorProcess extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** A program with arguments that starts the server as its own continuation. */
  readonly within?: readonly string[];
}

export async function startExecutorProcess(
  options: readonly string[] = [],
  surroundings: Surroundings = {},
): Promise<ExecutorProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'));
  const token = 'a-token-for-measuring-only';
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const argv = ['executor', '--listen', 'tcp:127.0.0.1:0', '--token-file', join(folder, 'token')];
  return {
    ...(await startServer([...argv, '--workspace', folder, ...options], folder, surroundings)),
    token,
  };
}

/** As the container of an OpenHands client starts it. The token is the key of the session. */
export async function startV0Process(): Promise<ExecutorProcess & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-v0-'));
  const token = 'a-key-for-measuring-only';
  const argv = ['openhands-server', '0', '--working-dir', folder, '--no-enable-browser'];
  const server = await startServer(argv, folder, { env: { SESSION_API_KEY: token } });
  return { ...server, token, folder };
}

/** `folder` goes away with it. */
async function startServer(
  command: readonly string[],
  folder: string,
  { env = {}, within = [] }: Surroundings,
): Promise<Omit<ExecutorProcess, 'token'>> {
  const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
  const [program = '', ...argv] = [...within, process.execPath];
  const child = spawn(program, [...argv, '--import', 'tsx', main, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [line] = await once(child.stdout, 'data');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  return {
    url,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
