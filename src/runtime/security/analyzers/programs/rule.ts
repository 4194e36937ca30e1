/** The form of a rule: which uses of which programs it covers, and what they do. */
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';

/**
 * Words, of which one must fit, where `*` stands for any letters. Blanks separate the words of a text; an element of
 * a list can contain blanks itself.
 */
export type Pattern = string | readonly string[] | RegExp;

/** Holds when every key of it does. */
export interface Condition {
  /** The name that the command uses for the program, for a rule about several. */
  readonly program?: Pattern | undefined;
  /** The first word that is neither an option nor the value of one. */
  readonly verb?: Pattern | undefined;
  /** How the words that are no options begin: `volume rm`. */
  readonly words?: Pattern | undefined;
  /** One of the arguments. */
  readonly arg?: Pattern | undefined;
  /** Arguments that stand side by side. */
  readonly line?: Pattern | undefined;
  /** One of these options is there, letters also in a group: `-f --force`. */
  readonly option?: string | undefined;
  /** The value of an option: `{ '-c --context': 'prod-*' }`. */
  readonly value?: Readonly<Record<string, Pattern>> | undefined;
  /** One of the words that are no options. */
  readonly operand?: Pattern | undefined;
  /** Where one of these words leads as a path: `/etc/*`, `~/*` for homes, `./*` for the workspace. */
  readonly place?: Pattern | undefined;
  /** A program whose output is the input. */
  readonly from?: Pattern | undefined;
  /** The least number of arguments. */
  readonly count?: number | undefined;
  /** Checks what no key expresses. Only for the tables of this package. */
  readonly test?: ((invocation: Invocation, scope: Scope) => boolean) | undefined;
}

/** Which of the words that are no options. */
export type Picked = 'all' | 'first' | 'last' | 'but-first' | 'but-last';

/** What follows when the condition holds. In a reason, `{program}` is the name of the program. */
export interface Case extends Condition {
  readonly unless?: Condition | undefined;
  /** The reason for this risk. */
  readonly high?: string | undefined;
  readonly medium?: string | undefined;
  /** Turns `medium` into `high`. */
  readonly highWhen?: Condition | undefined;
  /** Says that there is nothing to find, so that later cases do not count. */
  readonly low?: true | undefined;
  /** Paths that it writes. */
  readonly writes?: Picked | undefined;
  /** Paths that it removes with everything below them. */
  readonly removes?: Picked | undefined;
  /** Judges by itself. Only for the tables of this package. */
  readonly judge?: ((invocation: Invocation, scope: Scope) => void) | undefined;
}

export interface Rule extends Case {
  /** Names without directory; `*` stands for any letters. */
  readonly programs: string | readonly string[];
  /** Options that take the next word as their value. */
  readonly values?: string | undefined;
  /** Of these the first that fits counts. */
  readonly cases?: readonly Case[] | undefined;
  /** The program runs code or commands out of its words or input, so no use of it is harmless by its name. */
  readonly runsCode?: true | undefined;
  /** Where the program stands that this one starts. */
  readonly starts?: Starting | undefined;
  /** Returns what the program starts. Only for the tables of this package. */
  readonly start?: ((invocation: Invocation, scope: Scope) => Started | undefined) | undefined;
}

/** Without `option` and `after`: behind the options of the program itself. */
export interface Starting {
  /** Options that take the next word as their value. */
  readonly values?: string | undefined;
  /** How many words stand between the options and the program. */
  readonly skip?: number | undefined;
  /** It stands behind the verb. */
  readonly afterVerb?: true | undefined;
  /** `NAME=value` words may stand before it. */
  readonly assignments?: true | undefined;
  /** It gets the rights of root. */
  readonly elevated?: true | undefined;
  /** Joins the words and reads them as shell source. */
  readonly joined?: true | undefined;
  /** It is shell source, the value of one of these options. */
  readonly option?: string | undefined;
  /** It stands behind this word. */
  readonly after?: string | undefined;
}

/** Programs with their words, or shell source. */
export type Started = readonly { argv: readonly string[]; source?: string | undefined }[];
