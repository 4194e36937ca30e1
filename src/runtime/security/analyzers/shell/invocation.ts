/** One program that a command line starts, as far as we can know it before it runs. */

export interface Invocation {
  /** Name without directory: identifies the program, however the command calls it. */
  readonly program: string;
  /** The first word as the command writes it, with variables filled in. */
  readonly path: string;
  readonly args: readonly string[];
  readonly redirects: readonly Redirected[];
  readonly input: Input;
  /** Programs whose output became part of the words. */
  readonly substituted: readonly Invocation[];
  /** What runs behind `<( )` in the words, in order. */
  readonly behind: readonly Result[];
  /** Names of the variables in the words. */
  readonly variables: readonly string[];
  readonly elevated: boolean;
  /** The working directory, as `place` spells it. */
  readonly cwd: string;
}

export interface Redirected {
  readonly mode: 'read' | 'write' | 'append';
  readonly target: string;
  readonly descriptor: number | undefined;
}

/** What is at standard input: its text where that is constant, and the programs that produce it. */
export interface Input {
  readonly text?: string | undefined;
  readonly from: readonly Invocation[];
  /** A file that it reads through `<`. */
  readonly file?: string | undefined;
}

/** What a piece of a script does: the programs in it, and what it prints where that is constant. */
export interface Result {
  readonly text?: string | undefined;
  readonly from: readonly Invocation[];
}
