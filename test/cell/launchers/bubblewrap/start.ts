import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BubblewrapLauncher,
  type BubblewrapOptions,
  createBubblewrapLauncher,
} from '../../../../src/cell/launchers/bubblewrap/bubblewrap-launcher.js';
import { cellEnvironment } from '../../../../src/cell/launchers/bubblewrap/layout.js';
import type { LaunchedProcess, LaunchedPty } from '../../../../src/cell/launchers/launcher.js';

export const inCell = { cwd: '/workspace', env: cellEnvironment };

/** A cell that closes at the end of the test. */
export async function startLauncher(
  options: Partial<BubblewrapOptions> = {},
): Promise<BubblewrapLauncher & AsyncDisposable> {
  const workspace = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  const launcher = await createBubblewrapLauncher({
    program: '/usr/bin/bwrap',
    workspace,
    environment: cellEnvironment,
    network: 'none',
    readOnly: [],
    readWrite: [],
    hidden: [],
    limits: {},
    ...options,
  });
  return Object.assign(launcher, {
    async [Symbol.asyncDispose]() {
      await launcher.close();
      rmSync(workspace, { recursive: true, force: true });
    },
  });
}

/** Runs a program to its end. */
export async function complete(launcher: BubblewrapLauncher, source: string, input = '') {
  const started = await launcher.spawn(['bash', '-c', source], inCell);
  const [stdout, stderr] = [collect(started.stdout), collect(started.stderr)];
  started.stdin.end(input);
  const status = await started.exited;
  return { ...status, stdout: await stdout, stderr: await stderr };
}

export async function collect(stream: LaunchedProcess['stdout']): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Everything that a terminal shows until what runs on it has ended. */
export async function watch(pty: LaunchedPty): Promise<string> {
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve) => pty.onEnd(resolve));
  pty.onData((chunk) => chunks.push(chunk));
  // The end of a program may be told before its last output.
  await Promise.all([pty.exited, ended]);
  return Buffer.concat(chunks).toString();
}
