/** The words behind a program as its options, their values and the rest. */

/** True when a short option, alone or in a group, or a long one is there: `has(args, 'rR', 'recursive')`. */
export function has(args: readonly string[], letters: string, ...words: readonly string[]): boolean {
  return args.some(
    (arg) =>
      (arg.length > 1 &&
        arg[0] === '-' &&
        arg[1] !== '-' &&
        [...letters].some((letter) => arg.includes(letter)) &&
        /^-[a-zA-Z0-9]+$/.test(arg)) ||
      (arg.startsWith('--') && words.some((word) => arg === `--${word}` || arg.startsWith(`--${word}=`))),
  );
}

/** The words that are no options. */
export function operands(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  if (end === -1) return args.filter((arg) => !arg.startsWith('-') || arg === '-');
  return [...args.slice(0, end).filter((arg) => !arg.startsWith('-')), ...args.slice(end + 1)];
}

/** The value of an option in any of its forms: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function optionValue(args: readonly string[], short: string, long = ''): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (arg === short || (long !== '' && arg === long)) return args[index + 1];
    if (long !== '' && arg.startsWith(`${long}=`)) return arg.slice(long.length + 1);
    if (short.length === 2 && arg.startsWith(short) && !arg.startsWith('--')) return arg.slice(2);
  }
  return undefined;
}

/** The values of all options that fit: `-x value`, `--option value` and `--option=value`. */
export function valuesOf(args: readonly string[], option: RegExp): string[] {
  return args.flatMap((arg, index) => {
    if (option.test(arg)) return [args[index + 1] ?? ''];
    const [, long = '', value] = /^(--[\w-]+)=([\s\S]*)$/.exec(arg) ?? [];
    return value !== undefined && option.test(long) ? [value] : [];
  });
}
