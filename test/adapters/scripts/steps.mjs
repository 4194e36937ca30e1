/** What a model would ask for, one after the other, to repair the test; then it says what was wrong. */
export const steps = [
  { name: 'run', args: { command: 'node sum.test.mjs' } },
  { name: 'edit', args: { path: 'sum.mjs', oldText: 'a - b', newText: 'a + b' } },
  { name: 'run', args: { command: 'node sum.test.mjs' } },
];

export const last = 'It subtracted.';
