/** Writes how many tests passed and failed, as `passed failed`, into the file that TEST_COUNTS_FILE names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env.TEST_COUNTS_FILE;
    if (file === undefined) return;
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      // A file that does not load has no tests; it counts as one failure.
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state !== 'skipped') failed++;
      }
    }
    writeFileSync(file, `${passed} ${failed}\n`);
  }
}
