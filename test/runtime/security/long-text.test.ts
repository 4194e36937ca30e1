/** Judging takes time in the length of what it judges, not in its square: each of these took minutes that way. */
import { expect, test } from 'vitest';
import { createRuntime } from '../../../src/index.js';
import { rules } from '../../../src/runtime/security/index.js';

const long = 3_000_000;

test.each([
  ['one word', 'x'.repeat(long)],
  ['schemes', 'a:'.repeat(long / 2)],
  ['a scheme that is long', `${'x'.repeat(long)}://host`],
  ['slashes', '/'.repeat(long)],
])('a tool is given %s', async (_what, value) => {
  await using runtime = await createRuntime({ config: false, backend: 'cli', guards: [rules()] });
  const call = runtime.execute({ action: 'call_tool', tool: 'none', arguments: { value } } as never);
  await expect(call).rejects.toMatchObject({ code: 'denied' });
});
