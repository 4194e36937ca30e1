/** Runs cases of abuse, each in its own cell, and judges their results. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateRuntimeOptions, createRuntime, type Runtime, WorkcellError } from '../../index.js';
import { attackLimits } from './attack-limits.js';
import { type AbuseCase, Breach, demand, type Expected, type Tools } from './case.js';
import { stillWorks } from './inside.js';

/** `not-claimed`: the attack had its effect, and the cell's own report says beforehand that it would. */
type Result = 'held' | 'failed' | 'not-claimed' | 'not-run';

export interface Verdict {
  readonly id: string;
  readonly title: string;
  readonly expected: Expected;
  readonly result: Result;
  /** The result of the attack. */
  readonly detail: string;
  /** Why the cell does not claim the outcome, also where the attack had no effect this time. */
  readonly reason?: string;
  readonly durationMs: number;
}

/** No attack takes this long, whatever it does. */
const deadlineMs = 90_000;

/** `own` are options of the backend for every cell of the case. */
export async function runCase(
  abuse: AbuseCase,
  backend: string,
  own: Readonly<Record<string, unknown>> = {},
): Promise<Verdict> {
  const started = performance.now();
  const judgement = await judge(abuse, { ...own, backend });
  const { id, title, expected } = abuse;
  return { id, title, expected, ...judgement, durationMs: Math.round(performance.now() - started) };
}

async function judge(
  abuse: AbuseCase,
  place: Readonly<Record<string, unknown>>,
): Promise<Pick<Verdict, 'result' | 'detail' | 'reason'>> {
  const undo: (() => unknown)[] = [];
  const tools = makeTools(place, undo);
  let reason: string | undefined;
  try {
    const runtime = await tools.cell();
    const missing = await missingPrograms(runtime, abuse.needs ?? []);
    if (missing.length > 0) return { result: 'not-run', detail: `needs ${missing.join(', ')} in the cell` };
    reason = await abuse.unclaimed?.(runtime.isolation, tools);
    const detail = await withDeadline(abuse.attack(runtime, tools));
    assertUntouched(tools);
    await withDeadline(permittedStill(abuse, runtime, tools));
    return { result: 'held', detail, ...(reason !== undefined && { reason }) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (reason === undefined) return { result: 'failed', detail };
    if (error instanceof Breach) return { result: 'not-claimed', detail, reason };
    if (!isLoss(error)) return { result: 'failed', detail };
    // Before its cell is closed.
    return await otherLives(tools, { detail, reason });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** A missing claim does not excuse a failing neighbour, unless the whole cell has ended. */
async function permittedStill(abuse: AbuseCase, runtime: Runtime, tools: Tools): Promise<void> {
  try {
    await abuse.neighbour(runtime, tools);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`what is permitted fails: ${message}`, { cause });
  }
}

/** The cell has ended, and its clients learned it. */
function isLoss(error: unknown): boolean {
  const { cause = error } = error as { cause?: unknown };
  return WorkcellError.isInstance(cause) && cause.code === 'runtime-disconnected';
}

/** A cell that does not claim to survive must not take others with it. */
async function otherLives(
  tools: Tools,
  { detail, reason }: { detail: string; reason: string },
): Promise<Pick<Verdict, 'result' | 'detail' | 'reason'>> {
  try {
    await stillWorks(await tools.cell());
    return { result: 'not-claimed', detail, reason };
  } catch (error) {
    return { result: 'failed', detail: `${detail} Another cell fails, too: ${String(error)}` };
  }
}

function makeTools(place: Readonly<Record<string, unknown>>, undo: (() => unknown)[]): Tools {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-canary-'));
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  const canary = { directory, path: join(directory, 'canary'), text: randomBytes(16).toString('hex') };
  writeFileSync(canary.path, canary.text, { mode: 0o600 });
  return {
    canary,
    async cell(options = {}) {
      // Fails where nothing isolates: there the attack would hit this machine.
      const minIsolation = 'namespace';
      const all = { config: false, limits: attackLimits, ...place, minIsolation, ...options };
      const runtime = await createRuntime(all as CreateRuntimeOptions);
      undo.push(() => runtime.close());
      return runtime;
    },
    finally: (step) => void undo.push(step),
  };
}

/** Whatever the attack was, a file outside of the cell is as it was and alone in its directory. */
function assertUntouched({ canary }: Tools): void {
  demand(readFileSync(canary.path, 'utf8') === canary.text, 'a file outside of the cell was changed');
  demand(readdirSync(canary.directory).length === 1, 'a file was made outside of the cell');
}

async function missingPrograms(runtime: Runtime, programs: readonly string[]): Promise<string[]> {
  if (programs.length === 0) return [];
  const { id } = await runtime.processes.start(
    `for name in ${programs.join(' ')}; do command -v "$name" >&2 || echo "$name"; done`,
  );
  const { stdout } = await runtime.processes.wait(id);
  return stdout.split('\n').filter(Boolean);
}

async function withDeadline<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Breach(`it was not over after ${deadlineMs / 1000} s`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
