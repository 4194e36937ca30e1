/** A cell on this machine for tests: its parts, and what tests ask about processes. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../src/cell/executor/cell-environment.js';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import { OutputStore } from '../../../../src/cell/executor/output/output-store.js';
import type { SpoolLimits } from '../../../../src/cell/executor/output/spool.js';
import {
  Processes,
  type StartOptions,
  type WaitResult,
} from '../../../../src/cell/executor/processes/plain-processes.js';
import { createHostLauncher } from '../../../../src/cell/launchers/host-launcher.js';
import type { Launcher } from '../../../../src/cell/launchers/launcher.js';
import { readProcess } from '../../../../src/cell/launchers/process-table.js';
import { actions, type OutputDelta, type Progress } from '../../../../src/protocol/index.js';

export interface TestCell {
  readonly workspace: string;
  readonly launcher: Launcher;
  readonly environment: Environment;
  readonly outputs: OutputStore;
  readonly tree: Tree;
  readonly processes: Processes;
  start(argv: readonly string[], options?: Partial<StartOptions>): Promise<{ id: string; pid: number }>;
  wait(
    id: string,
    options?: WaitInput,
    onProgress?: (progress: Progress) => void | Promise<void>,
  ): Promise<WaitResult>;
  run(argv: readonly string[], options?: Partial<StartOptions>): Promise<WaitResult>;
}

type WaitInput = {
  timeoutMs?: number;
  encoding?: 'utf8' | 'base64';
  maxOutputBytes?: number;
  stdoutFrom?: number;
  stderrFrom?: number;
  signal?: AbortSignal;
};

/** Makes a cell that ends with the test. */
export function openCell(
  options: { limits?: SpoolLimits; wrap?: (launcher: Launcher) => Launcher } = {},
): TestCell {
  const workspace = mkdtempSync(join(tmpdir(), 'workcell-test-'));
  const kept = mkdtempSync(join(tmpdir(), 'workcell-test-output-'));
  const host = createHostLauncher({ workspace, environment: { PATH: process.env.PATH ?? '/usr/bin:/bin' } });
  const launcher = options.wrap?.(host) ?? host;
  const environment = new Environment(launcher.environment);
  const outputs = new OutputStore(() => kept, options.limits);
  const tree = new Tree(launcher.files);
  const processes = new Processes({ launcher, environment, outputs, tree });
  onTestFinished(async () => {
    await processes.close();
    await launcher.close();
    outputs.close();
    tree.close();
    rmSync(workspace, { recursive: true, force: true });
    rmSync(kept, { recursive: true, force: true });
  });
  const start: TestCell['start'] = (argv, startOptions = {}) => processes.start({ argv, ...startOptions });
  const wait: TestCell['wait'] = (id, { signal, ...input } = {}, onProgress) => {
    const {
      action: _action,
      id: _id,
      ...parsed
    } = actions.wait_process.input.parse({ action: 'wait_process', id, ...input });
    return processes.wait(id, parsed, { signal, onProgress });
  };
  return {
    workspace,
    launcher,
    environment,
    outputs,
    tree,
    processes,
    start,
    wait,
    run: async (argv, startOptions) => wait((await start(argv, startOptions)).id),
  };
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url));
}

/** Joins what a listener got, checking that each piece follows the one before. */
export function collector(from: Partial<Record<string, number>> = {}) {
  const text = { stdout: '', stderr: '' };
  const next: Record<string, number> = { stdout: from.stdout ?? 0, stderr: from.stderr ?? 0 };
  const listener = (progress: Progress) => {
    const delta = progress as OutputDelta;
    const stream = delta.stream as 'stdout' | 'stderr';
    if (delta.sequence !== next[stream])
      throw new Error(`${stream}: expected ${next[stream]}, got ${delta.sequence}`);
    next[stream] = delta.sequence + Buffer.byteLength(delta.text);
    text[stream] += delta.text;
  };
  return { text, next, listener };
}

export function isAlive(pid: number): boolean {
  return readProcess(pid) !== undefined;
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Waits for a file that a program writes, and gives its content. */
export async function contentOf(file: string): Promise<string> {
  await until(() => existsSync(file));
  return readFileSync(file, 'utf8').trim();
}

export async function until(condition: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!condition()) throw new Error('The condition does not hold.');
    },
    { timeout: 20_000, interval: 5 },
  );
}
