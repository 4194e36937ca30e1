/** How a program that starts another one takes its own options. */

interface OwnOptions {
  /** Options that take the next word as their value. */
  readonly values?: readonly string[] | undefined;
  /** Words between the options and the program. */
  readonly skip?: number | undefined;
  /** `NAME=value` words may stand before the program. */
  readonly assignments?: boolean | undefined;
}

/** The words after options, values and assignments. */
export function afterOptions(
  args: readonly string[],
  { values = [], skip = 0, assignments = false }: OwnOptions,
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
