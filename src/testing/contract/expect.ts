/**
 * The few assertions of the behaviours, with the names that test runners have for them. They are here so that the
 * suite runs under any runner and needs none.
 */
import { AssertionError } from 'node:assert';
import { inspect, isDeepStrictEqual } from 'node:util';

/** Matches every value that fits. */
class Matching {
  readonly #about: string;
  readonly fits: (value: unknown) => boolean;

  constructor(about: string, fits: (value: unknown) => boolean) {
    this.#about = about;
    this.fits = fits;
  }

  [inspect.custom](): string {
    return this.#about;
  }
}

interface Assertions {
  readonly not: Assertions;
  toBe(expected: unknown): void;
  /** Undefined properties count as absent. */
  toEqual(expected: unknown): void;
  /** Objects may have more properties than expected; lists have as many entries. */
  toMatchObject(expected: object): void;
  toMatch(expected: RegExp | string): void;
  /** A part of a text, or a member of a list or set. */
  toContain(expected: unknown): void;
  toContainEqual(expected: unknown): void;
  toHaveLength(expected: number): void;
  toHaveProperty(name: string): void;
  toBeNull(): void;
  toBeUndefined(): void;
  toBeGreaterThan(expected: number): void;
  toBeGreaterThanOrEqual(expected: number): void;
  toBeLessThan(expected: number): void;
  /** Of a function: it throws this. With a text: its message contains it. */
  toThrow(expected?: unknown): void;
}

type Later = { readonly [Name in Exclude<keyof Assertions, 'not'>]: (expected?: unknown) => Promise<void> };

/** `message` says what you did, for when it does not hold. */
export function expect(actual: unknown, message?: string): Assertions & { readonly rejects: Later } {
  return {
    ...assertions(actual, message, true),
    not: assertions(actual, message, false) as Assertions,
    rejects: later(actual as Promise<unknown>, message),
  };
}

expect.any = (kind: abstract new (...given: never[]) => unknown): unknown =>
  new Matching(
    `any ${kind.name}`,
    (value) => typeof value === kind.name.toLowerCase() || value instanceof kind,
  );
expect.stringContaining = (part: string): unknown =>
  new Matching(`text with ${inspect(part)}`, (value) => typeof value === 'string' && value.includes(part));
expect.stringMatching = (pattern: RegExp): unknown =>
  new Matching(`text like ${pattern}`, (value) => typeof value === 'string' && pattern.test(value));
expect.objectContaining = (expected: object): unknown =>
  new Matching(`object with ${inspect(expected)}`, (value) => fits(value, expected, 'part'));

expect.unreachable = (message = 'This must not be reached.'): never => {
  throw new AssertionError({ message });
};

const checks: {
  [Name in Exclude<keyof Assertions, 'not'>]: (actual: unknown, expected: unknown) => boolean;
} = {
  toBe: Object.is,
  toEqual: (actual, expected) => fits(actual, expected, 'whole'),
  toMatchObject: (actual, expected) => fits(actual, expected, 'part'),
  toMatch: (actual, expected) =>
    typeof actual === 'string' &&
    (expected instanceof RegExp ? expected.test(actual) : actual.includes(String(expected))),
  toContain: (actual, expected) =>
    typeof actual === 'string' ? actual.includes(String(expected)) : listOf(actual).includes(expected),
  toContainEqual: (actual, expected) => listOf(actual).some((entry) => fits(entry, expected, 'whole')),
  toHaveLength: (actual, expected) => (actual as { length?: unknown } | undefined)?.length === expected,
  toHaveProperty: (actual, expected) => isObject(actual) && String(expected) in actual,
  toBeNull: (actual) => actual === null,
  toBeUndefined: (actual) => actual === undefined,
  toBeGreaterThan: (actual, expected) => Number(actual) > Number(expected),
  toBeGreaterThanOrEqual: (actual, expected) => Number(actual) >= Number(expected),
  toBeLessThan: (actual, expected) => Number(actual) < Number(expected),
  toThrow: (actual, expected) => {
    const thrown = typeof actual === 'function' ? thrownBy(actual as () => unknown) : { error: actual };
    if (thrown === undefined || expected === undefined) return thrown !== undefined;
    const { error } = thrown;
    return typeof expected === 'string'
      ? error instanceof Error && error.message.includes(expected)
      : fits(error, expected, 'whole');
  },
};

const names = Object.keys(checks) as (keyof typeof checks)[];

function assertions(actual: unknown, message: string | undefined, wanted: boolean): Omit<Assertions, 'not'> {
  const assert = (name: keyof typeof checks) => (expected?: unknown) => {
    if (checks[name](actual, expected) === wanted) return;
    const said = `${wanted ? '' : 'not '}${name}`;
    const explained = `${inspect(actual, shown)}\n${said}\n${inspect(expected, shown)}`;
    throw new AssertionError({
      message: message === undefined ? explained : `${message}\n${explained}`,
      actual,
      expected,
      operator: said,
      stackStartFn: assert,
    });
  };
  return Object.fromEntries(names.map((name) => [name, assert(name)])) as unknown as Omit<Assertions, 'not'>;
}

const shown = { depth: 6, maxStringLength: 2000, maxArrayLength: 50 } as const;

function later(promise: Promise<unknown>, message: string | undefined): Later {
  const assert = (name: keyof typeof checks) => async (expected?: unknown) => {
    const outcome = await promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (!('error' in outcome))
      throw new AssertionError({ message: `Expected a refusal, got ${inspect(outcome.value, shown)}` });
    assertions(outcome.error, message, true)[name](expected as never);
  };
  return Object.fromEntries(names.map((name) => [name, assert(name)])) as unknown as Later;
}

function fits(actual: unknown, expected: unknown, extent: 'whole' | 'part'): boolean {
  if (expected instanceof Matching) return expected.fits(actual);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false;
    return expected.every((entry, index) => fits(actual[index], entry, extent));
  }
  if (!isPlain(expected)) return isDeepStrictEqual(actual, expected);
  if (!isObject(actual) || Array.isArray(actual)) return false;
  if (extent === 'whole' && !isPlain(actual)) return false;
  const keys = Object.keys(extent === 'whole' ? { ...actual, ...expected } : expected);
  const of = (value: object, key: string): unknown => (value as Record<string, unknown>)[key];
  return keys.every((key) => fits(of(actual, key), of(expected, key), extent));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) || value instanceof Set ? [...value] : [];
}

function thrownBy(work: () => unknown): { error: unknown } | undefined {
  try {
    work();
  } catch (error) {
    return { error };
  }
  return undefined;
}
