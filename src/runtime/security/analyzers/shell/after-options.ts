/** How a program that starts another one takes its own options. */

export interface Wrapper {
  /** Options that take the next word as their value. */
  readonly values?: readonly string[];
  /** Words between the options and the program. */
  readonly skip?: number;
  /** `NAME=value` words may stand before the program. */
  readonly assignments?: boolean;
  readonly elevated?: boolean;
  /** The words after the options are joined and read as shell source. */
  readonly joined?: boolean;
}

/** Programs with their words, or shell source. */
export type Starts = readonly { argv: readonly string[]; source?: string | undefined }[];

/** The words after options, values and assignments. */
export function afterOptions(
  args: readonly string[],
  { values = [], skip = 0, assignments = false }: Wrapper,
): string[] {
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? '';
    if (arg === '--') {
      index++;
      break;
    }
    if (values.includes(arg)) index += 2;
    else if (arg.startsWith('-') && arg !== '-') index++;
    else if (assignments && /^[A-Za-z_]\w*=/.test(arg)) index++;
    else break;
  }
  return args.slice(index + skip);
}
