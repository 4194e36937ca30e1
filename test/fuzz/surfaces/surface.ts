import type { CreateRuntimeOptions } from '../../../src/index.js';
import type { Round } from '../cell.js';

/** One way in which a cell reaches the program that owns it. */
export interface Surface {
  /** Where to fuzz it by default. */
  readonly backends: readonly string[];
  /** How much the owner may grow. */
  readonly mostBytes: number;
  /** Options of the cell; `programs` is the directory of the programs that run inside. */
  options?(programs: string): Partial<CreateRuntimeOptions>;
  /** Uses honestly what the rounds use, once. */
  warmUp(round: Round): Promise<void>;
  /** One attack, and what has to be true afterwards. */
  round(round: Round): Promise<void>;
}
