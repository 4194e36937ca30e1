/** What a case of abuse is: an attack on a cell, its expected result, and the permitted neighbour that still works. */
import type { CreateRuntimeOptions, Isolation, Runtime } from '../../index.js';
import { findFact, isEnforced } from '../../protocol/index.js';

/**
 * `blocked`: the attack gets a clear error. `contained`: it does not affect neighbours and this process. `killed`: it
 * ends within the limit. `bounded`: the answer is right and of bounded size and time. `nothing-leaks`: nothing gets
 * out, or stays behind.
 */
export type Expected = 'blocked' | 'contained' | 'killed' | 'bounded' | 'nothing-leaks';

export interface AbuseCase {
  /** Number in the abuse catalogue and a word; `public.` marks a failure of another product that must not be ours. */
  readonly id: string;
  readonly title: string;
  readonly expected: Expected;
  /** Programs that the attack needs inside the cell. */
  readonly needs?: readonly string[];
  /**
   * Why a cell like this one does not claim to withstand the attack, by its own report; undefined if it does. `tools`: for an
   * attack on cells of another kind, which may be refused.
   */
  unclaimed?(isolation: Isolation, tools: Tools): string | undefined | Promise<string | undefined>;
  /** Returns the result of the attack in a few words; throws a `Breach` when it is not the expected one. */
  attack(runtime: Runtime, tools: Tools): Promise<string>;
  /** Throws when permitted work fails after the attack. */
  neighbour(runtime: Runtime, tools: Tools): Promise<void>;
}

/** What an attack works with besides its cell. */
export interface Tools {
  /** A file of this machine outside of every cell, with a text that nothing inside may ever see or change. */
  readonly canary: { readonly directory: string; readonly path: string; readonly text: string };
  /** Another cell of the same kind, closed at the end of the case. */
  cell(options?: Partial<CreateRuntimeOptions> & Record<string, unknown>): Promise<Runtime>;
  /** Registers what to undo at the end of the case. */
  finally(undo: () => unknown): void;
}

/** The attack had an effect that it must not have. */
export class Breach extends Error {
  override readonly name = 'Breach';
}

/** Throws a `Breach` with these words unless the condition holds. */
export function demand(condition: boolean, breach: string): asserts condition {
  if (!condition) throw new Breach(breach);
}

/** Why attacks on the kernel mean little to a cell with a separate kernel, by its own report. */
export function ownKernel(isolation: Isolation): string | undefined {
  return isEnforced(isolation, 'kernel')
    ? 'gVisor’s own kernel answers, without our filter before it; that of the machine is not asked'
    : undefined;
}

/** Why a cell like this one ends when it reaches this limit, by its own report; undefined if it survives. */
export function endsWith(isolation: Isolation, limit: 'memory' | 'processes'): string | undefined {
  if (!findFact(isolation, limit)?.values.endsCell) return undefined;
  const what = isEnforced(isolation, 'kernel') ? 'gVisor’s own kernel' : 'the executor';
  return `${what} is within the limit of ${limit}, and the cell ends as a whole when it is reached`;
}
