import { expect, test } from 'vitest';
import { readText } from '../house/source.js';
import { compile, obstacle, patience } from './frameworks.js';

/** What the page has at hand where its parts begin. */
const given = `
import type { Runtime } from 'workcell';
declare const runtime: Runtime;
declare const model: never;
declare const prompt: string;
`;

test.skipIf(obstacle !== undefined)("the page's programs for frameworks compile with them", patience, () => {
  const programs = [...readText('docs/guides/adapters.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)];
  expect(programs.length).toBeGreaterThan(3);
  expect(compile([given, ...programs.map(([, source]) => source)].join('\n'))).toBe('');
});
