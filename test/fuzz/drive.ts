/** Lets owners work in hostile cells, one process for each, and collects what went wrong. */
import { type ChildProcess, fork } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { plainHome, plainUser } from '../abuse/as-plain-user.js';
import type { FromOwner, OwnerSettings } from './messages.js';

export interface Outcome {
  readonly rounds: number;
  readonly failures: readonly Failure[];
  /** What was too slow, but not on a second try. */
  readonly once: readonly Failure[];
  /** The longest stall and the largest growth of any round. */
  readonly stallMs: number;
  readonly grownBytes: number;
}

export interface Failure {
  readonly what: string;
  /** A command that does the same again. */
  readonly again: string;
}

export type FuzzOptions = Omit<OwnerSettings, 'programs' | 'rounds'> & {
  readonly rounds?: number;
  /** The owner is a user without privileges. */
  readonly asPlainUser?: boolean;
};

/** An owner whose loop says nothing for so long hangs. */
const silenceMs = 20_000;

/** More of them tell nothing new. */
const mostFailures = 10;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export async function fuzz({
  rounds = Number.MAX_SAFE_INTEGER,
  asPlainUser = false,
  ...options
}: FuzzOptions): Promise<Outcome> {
  const plain = asPlainUser ? plainHome() : undefined;
  const directory = mkdtempSync(join(tmpdir(), 'fuzz-programs-'));
  const end = performance.now() + options.seconds * 1000;
  const sum = { rounds: 0, failures: [] as Failure[], once: [] as Failure[], stallMs: 0, grownBytes: 0 };
  try {
    writePrograms(directory);
    // Another owner follows one that died, and continues behind the round that killed it.
    for (let finished = false; !finished; ) {
      const left = { rounds: rounds - sum.rounds, seconds: (end - performance.now()) / 1000 };
      const settings = { ...options, ...left, seed: options.seed + sum.rounds, programs: directory };
      const outcome = await own(settings, plain);
      sum.rounds += outcome.rounds;
      sum.failures.push(...outcome.failures);
      sum.once.push(...outcome.once);
      sum.stallMs = Math.max(sum.stallMs, outcome.stallMs);
      sum.grownBytes = Math.max(sum.grownBytes, outcome.grownBytes);
      finished =
        outcome.finished ||
        outcome.rounds === 0 ||
        performance.now() > end ||
        sum.rounds >= rounds ||
        sum.failures.length >= mostFailures;
    }
    return sum;
  } finally {
    for (const made of [directory, ...(plain === undefined ? [] : [plain.home])])
      rmSync(made, { recursive: true, force: true });
  }
}

/** One line for each failure, with the way to see it again. */
export function describe(failures: readonly Failure[]): string {
  return failures.map(({ what, again }) => `${what}\n    again: ${again}`).join('\n');
}

/** The generators as one file that the Node of a cell runs, and a browser that they stand in front of. */
function writePrograms(directory: string): void {
  chmodSync(directory, 0o755);
  const inside = join(directory, 'inside.mjs');
  buildSync({
    entryPoints: [path('generators/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: inside,
  });
  writeFileSync(join(directory, 'chromium'), `#!/bin/sh\nexec node ${inside} devtools 0 "$@"\n`, {
    mode: 0o755,
  });
}

/** `rounds` counts begun ones. */
function own(
  settings: OwnerSettings,
  plain: ReturnType<typeof plainHome> | undefined,
): Promise<Outcome & { readonly finished: boolean }> {
  const { surface, backend } = settings;
  const user = plain === undefined ? {} : { ...plainUser, cwd: plain.home };
  const owner = fork(path('owner.ts'), [JSON.stringify(settings)], {
    ...user,
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: plain?.env ?? { ...process.env, XDG_STATE_HOME: join(settings.programs, 'state') },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const complaint = lastOf(owner);
  const failures: Failure[] = [];
  const once: Failure[] = [];
  let seed: number | undefined;
  let rounds = 0;
  let finished = false;
  let hangs = false;
  const most = { stallMs: 0, grownBytes: 0 };
  const failure = (what: string): Failure => ({
    what: `${surface} on ${backend}: ${what}`,
    again: `npm run fuzz -- --only ${surface} --backend ${backend} --seed ${seed ?? settings.seed} --rounds 1${plain === undefined ? '' : ' --plain-user'}`,
  });
  const giveUp = () => {
    hangs = true;
    owner.kill('SIGKILL');
  };
  let silence = setTimeout(giveUp, silenceMs * 3);
  owner.on('message', (message: FromOwner) => {
    clearTimeout(silence);
    silence = setTimeout(giveUp, silenceMs);
    if (message.type === 'finished') finished = true;
    if (message.type === 'round') {
      seed = message.seed;
      rounds++;
    }
    if (message.type !== 'done') return;
    most.stallMs = Math.max(most.stallMs, message.stallMs);
    most.grownBytes = Math.max(most.grownBytes, message.grownBytes);
    for (const { kind, detail } of message.once) once.push(failure(`${kind}: ${detail}`));
    for (const { kind, detail } of message.findings) failures.push(failure(`${kind}: ${detail}`));
  });
  return new Promise((resolve) => {
    owner.once('close', (code, signal) => {
      clearTimeout(silence);
      if (hangs) failures.push(failure('The owner hangs.'));
      else if (!finished)
        failures.push(failure(`The owner ended by itself (${signal ?? code}): ${complaint()}`));
      resolve({ rounds, failures, once, finished, ...most });
    });
  });
}

/** The end of what a process complains. */
function lastOf(owner: ChildProcess): () => string {
  let text = '';
  owner.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-3000);
  });
  return () => text.trim();
}
