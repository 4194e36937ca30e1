/** The seam between the audit record and the store that keeps it. */

/** Numbered lines, each of which follows from the previous one. */
export interface Ledger {
  /** Adds one line; other writers wait until the ledger has it. */
  append(make: (last: LedgerHead) => LedgerLine): void | Promise<void>;
  /** Lines after a number, in order. */
  read(after: number, limit: number): readonly LedgerLine[] | Promise<readonly LedgerLine[]>;
  /** The last line, stored apart from the lines. */
  head(): LedgerHead | Promise<LedgerHead>;
}

export interface LedgerHead {
  /** 0 when there is none. */
  readonly sequence: number;
  readonly hash: string;
}

export interface LedgerLine extends LedgerHead {
  readonly line: string;
}

export const noLine: LedgerHead = { sequence: 0, hash: '' };
