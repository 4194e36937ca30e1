import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';

/** Looks at one use of one program and reports what it finds. */
export type Check = (invocation: Invocation, scope: Scope) => void;

/** Checks by the name of the program; several names may share one. */
export type Checks = Readonly<Record<string, Check>>;

/** The same check under several names. */
export function each(names: string, check: Check): Checks {
  return Object.fromEntries(names.split(' ').map((name) => [name, check]));
}

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

/** The words that are neither options nor the values of these options. */
export function words(args: readonly string[], valued: RegExp): string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !valued.test(args[index - 1] ?? ''));
}
