/** `workcell executor` as a person would start it, in a process of its own. */
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

/** `within`: a program with arguments that starts the server as its own continuation. */
export async function startExecutorProcess(
  options: readonly string[] = [],
  { env = {}, within = [] }: { env?: Readonly<Record<string, string>>; within?: readonly string[] } = {},
): Promise<ExecutorProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'));
  const token = 'a-token-for-measuring-only';
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
  const [program = '', ...argv] = [...within, process.execPath];
  const child = spawn(
    program,
    [
      ...argv,
      '--import',
      'tsx',
      main,
      'executor',
      '--listen',
      'tcp:127.0.0.1:0',
      '--token-file',
      join(folder, 'token'),
      '--workspace',
      folder,
      ...options,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  );
  const [line] = await once(child.stdout, 'data');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  return {
    url,
    token,
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
