/** The contract of a backend under this runner. */
import { describe, test } from 'vitest';
import type { CreateRuntimeOptions } from '../../src/index.js';
import { type ContractOptions, contractTests } from '../../src/testing/index.js';

/** `options` are what each test creates its runtimes with. */
export function contractSuite(
  name: string,
  options: CreateRuntimeOptions | (() => CreateRuntimeOptions),
  suite: ContractOptions = {},
): void {
  describe(`contract of ${name}`, () => {
    for (const { title, run } of contractTests(options, suite)) test(title, run);
  });
}
