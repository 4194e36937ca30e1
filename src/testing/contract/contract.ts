/** Every behaviour that a backend must have, as tests for any runner. */
import type { AnyBackend } from '../../backends/index.js';
import { type CreateRuntimeOptions, createRuntime, type Runtime, type WorkcellEvent } from '../../index.js';
import { checkpointBehaviours } from './behaviours/checkpoints.js';
import { codeBehaviours } from './behaviours/code.js';
import { editBehaviours } from './behaviours/edit.js';
import { fileBehaviours } from './behaviours/files.js';
import { inputBehaviours } from './behaviours/input.js';
import { limitBehaviours } from './behaviours/limits.js';
import { outputBehaviours } from './behaviours/output.js';
import { processBehaviours } from './behaviours/processes.js';
import { refusalBehaviours } from './behaviours/refusals.js';
import { runtimeBehaviours } from './behaviours/runtime.js';
import { searchBehaviours } from './behaviours/search.js';
import { shellBehaviours } from './behaviours/shell.js';
import { toolBehaviours } from './behaviours/tools.js';
import { transferBehaviours } from './behaviours/transfer.js';
import type { Given } from './given.js';
import { type RequirementId, requirements, type Trait } from './requirements.js';

const behaviours = {
  ...shellBehaviours,
  ...inputBehaviours,
  ...outputBehaviours,
  ...limitBehaviours,
  ...fileBehaviours,
  ...transferBehaviours,
  ...editBehaviours,
  ...searchBehaviours,
  ...processBehaviours,
  ...checkpointBehaviours,
  ...codeBehaviours,
  ...runtimeBehaviours,
  ...refusalBehaviours,
  ...toolBehaviours,
};

/** What you know of a backend before its contract runs. */
export interface ContractOptions {
  /** What the place has besides the minimum. Default: nothing, and the suite leaves those behaviours out. */
  readonly traits?: readonly Trait[];
  /** Behaviours that this backend does not have yet, with the reason. They must fail; one that passes is a failed test. */
  readonly gaps?: Partial<Record<RequirementId, string>>;
  /**
   * Gaps that depend on timing: the behaviour holds on one run and not on the next. The suite prints each failure
   * with the reason.
   */
  readonly sometimes?: Partial<Record<RequirementId, string>>;
  /** A further feature to switch on, and what must then hold for each runtime. */
  readonly dimension?: Dimension;
}

/** A feature of the trusted side that the suite switches on for each runtime: the same behaviours must hold. */
export interface Dimension {
  /** Added to the options of each runtime. */
  options(): Partial<CreateRuntimeOptions>;
  /** Inspects a runtime after its behaviour; skips one that is closed by then. */
  look?(runtime: Runtime): Promise<void>;
  /** Checks everything that a runtime recorded. */
  check(events: readonly WorkcellEvent[]): void;
}

/** The options for `createRuntime`: with a named backend, or with a backend object. */
export type ContractRuntime = CreateRuntimeOptions | ({ backend: AnyBackend } & Record<string, unknown>);

/** One behaviour, on one backend. */
export interface ContractTest {
  readonly id: RequirementId;
  /** The behaviour as a sentence, with its id and its gap: the name of the test. */
  readonly title: string;
  /** Starts its own cells, and rejects when the behaviour does not hold. Takes less than a minute. */
  run(): Promise<void>;
}

/**
 * The tests of a backend's contract, one for each behaviour: `for (const { title, run } of contractTests(…))
 * test(title, run)`. `options` go to `createRuntime`; it reads no configuration unless they name one.
 */
export function contractTests(
  options: ContractRuntime | (() => ContractRuntime),
  { traits = [], gaps = {}, sometimes = {}, dimension }: ContractOptions = {},
): ContractTest[] {
  checkIds({ ...gaps, ...sometimes });
  const optionsOf = typeof options === 'function' ? options : () => options;
  const has = (id: RequirementId) => {
    const { trait } = requirements[id];
    return trait === undefined || traits.includes(trait);
  };
  return (Object.keys(requirements) as RequirementId[]).filter(has).map((id) => {
    const title = `${id}: ${requirements[id].sentence}`;
    const run = () => show(optionsOf(), behaviourOf(id), dimension);
    const [gap, unsure] = [gaps[id], sometimes[id]];
    if (gap !== undefined) return { id, title: `${title} (gap: ${gap})`, run: () => mustFail(id, run) };
    if (unsure === undefined) return { id, title, run };
    return { id, title: `${title} (not always: ${unsure})`, run: () => mayFail(id, unsure, run) };
  });
}

type Behaviour = (given: Given) => Promise<void>;

function behaviourOf(id: RequirementId): Behaviour {
  const behaviour: Behaviour | undefined = behaviours[id];
  if (behaviour === undefined) throw new Error(`Nothing shows the requirement ${id}.`);
  return behaviour;
}

function checkIds(named: object): void {
  const unknown = Object.keys(named).filter((id) => !Object.hasOwn(requirements, id));
  if (unknown.length > 0) throw new Error(`There is no requirement ${unknown.join(', ')}.`);
}

/** A missing feature may also show as an answer that never comes. */
const gapMs = 50_000;

async function mustFail(id: RequirementId, run: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), gapMs);
  });
  const shown = run().then(
    () => true,
    () => false,
  );
  const holds = await Promise.race([shown, silent]);
  clearTimeout(timer);
  if (holds) throw new Error(`${id} holds. Take it out of the gaps.`);
}

async function mayFail(id: RequirementId, reason: string, run: () => Promise<void>): Promise<void> {
  await run().catch((error: unknown) => console.warn(`${id} does not hold this time: ${reason}.\n${error}`));
}

async function show(
  options: ContractRuntime,
  behaviour: Behaviour,
  dimension: Dimension | undefined,
): Promise<void> {
  const created: { runtime: Runtime; events: Promise<WorkcellEvent[]> }[] = [];
  const create = async (overrides: Partial<CreateRuntimeOptions> = {}) => {
    const all = { config: false, ...options, ...dimension?.options(), ...overrides };
    const runtime = await createRuntime(all as CreateRuntimeOptions);
    created.push({
      runtime,
      events: dimension === undefined ? Promise.resolve([]) : collected(runtime.events),
    });
    return runtime;
  };
  try {
    const runtime = await create();
    await behaviour({ runtime, create });
    if (runtime.status === 'READY') await dimension?.look?.(runtime);
  } finally {
    await Promise.all(created.map(({ runtime }) => runtime.close()));
  }
  for (const { events } of created) dimension?.check(await events);
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
