/** What the driver and the owner of a hostile cell say to each other. */
import type { Finding } from './cell.js';

export interface OwnerSettings {
  readonly surface: string;
  readonly backend: string;
  /** Of the first round; each later round has the next number. */
  readonly seed: number;
  readonly rounds: number;
  /** No round begins later than this. */
  readonly seconds: number;
  /** The directory with the programs that run inside. */
  readonly programs: string;
  /** Options that reach a Docker Engine. */
  readonly engine?: Readonly<Record<string, unknown>> | undefined;
}

export type FromOwner =
  /** The loop of the owner turns. */
  | { readonly type: 'alive' }
  | { readonly type: 'round'; readonly seed: number }
  | {
      readonly type: 'done';
      readonly seed: number;
      readonly findings: readonly Finding[];
      /** What was too slow, but not on a second try. */
      readonly once: readonly Finding[];
      readonly stallMs: number;
      readonly grownBytes: number;
    }
  | { readonly type: 'finished' };
