/** Reads the values of options. */
import { InvalidArgumentError } from 'commander';

/** Reads a positive number of seconds as milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !(seconds > 0 && seconds <= 2_147_483)) {
    throw new InvalidArgumentError('Give seconds, a number above 0 and at most 2147483.');
  }
  return Math.ceil(seconds * 1000);
}

/** Collects an option that you can give several times. */
export function collect(value: string, collected: string[] = []): string[] {
  return [...collected, value];
}

/** Collects `NAME=value`; `NAME` alone takes the value it has here. */
export function collectVariable(
  text: string,
  collected: Record<string, string> = {},
): Record<string, string> {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError('Give NAME=value, the name in letters, digits and underscores.');
  const found = value ?? process.env[name];
  if (found === undefined) throw new InvalidArgumentError(`${name} is not set here, so give ${name}=value.`);
  return { ...collected, [name]: found };
}
