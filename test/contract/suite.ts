/** Runs every required behaviour on one kind of runtime. */
import { describe, expect, test } from 'vitest';
import {
  type CreateRuntimeOptions,
  createRuntime,
  type Runtime,
  type WorkcellEvent,
} from '../../src/index.js';
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
import type { Dimension } from './dimensions.js';
import type { Given } from './given.js';
import { type RequirementId, requirements, type Trait } from './requirements.js';

const behaviours = [
  shellBehaviours,
  inputBehaviours,
  outputBehaviours,
  limitBehaviours,
  fileBehaviours,
  transferBehaviours,
  editBehaviours,
  searchBehaviours,
  processBehaviours,
  codeBehaviours,
  runtimeBehaviours,
  refusalBehaviours,
  toolBehaviours,
];

export interface SuiteOptions {
  /** Behaviours that this backend does not have yet, with the reason. They must fail; one that passes is reported. */
  readonly gaps?: Partial<Record<RequirementId, string>>;
  /** Gaps that timing decides: the behaviour holds on one run and not on the next. Each failure is printed with the reason. */
  readonly sometimes?: Partial<Record<RequirementId, string>>;
  readonly traits?: readonly Trait[];
  /** What is switched on besides. */
  readonly dimension?: Dimension;
}

/** `options` are what each test creates its runtimes with. */
export function contractSuite(
  name: string,
  options: CreateRuntimeOptions | (() => CreateRuntimeOptions),
  { gaps = {}, sometimes = {}, traits = [], dimension }: SuiteOptions = {},
): void {
  const optionsOf = () => (typeof options === 'function' ? options() : options);

  describe(`contract of ${name}`, () => {
    test('cites each requirement once, and gaps name known ones', () => {
      expect(behaviours.flatMap((group) => Object.keys(group)).sort()).toEqual(
        Object.keys(requirements).sort(),
      );
      expect(Object.keys({ ...gaps, ...sometimes }).filter((id) => !(id in requirements))).toEqual([]);
    });

    for (const [id, behaviour] of behaviours.flatMap((group) => Object.entries(group))) {
      const requirement = requirements[id as RequirementId];
      if (requirement?.trait !== undefined && !traits.includes(requirement.trait)) continue;
      const gap = gaps[id as RequirementId];
      const title = `${id}: ${requirement?.sentence}${gap === undefined ? '' : ` (gap: ${gap})`}`;
      const unreliable = sometimes[id as RequirementId];
      if (unreliable !== undefined) {
        test(`${title} (not always: ${unreliable})`, () =>
          withRuntimes(optionsOf(), behaviour, dimension).catch((error: unknown) => {
            console.warn(`${name} does not hold ${id} this time: ${unreliable}.\n${error}`);
          }));
        continue;
      }
      // A gap is not tried twice: it has to fail, and waiting for that again proves nothing.
      const declare = gap === undefined ? test : test.fails;
      declare(title, gap === undefined ? {} : { retry: 0 }, () =>
        withRuntimes(optionsOf(), behaviour, dimension),
      );
    }
  });
}

async function withRuntimes(
  options: CreateRuntimeOptions,
  behaviour: (given: Given) => Promise<void>,
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
