/** Judging takes time in the length of what it judges, not in its square: each of these took minutes that way. */
import { expect, test } from 'vitest';
import { withoutEnd } from '../../../src/base/without-end.js';
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

test.each([
  ['braces before a line end', `rm -rf '${'/{'.repeat(60)}\nx'`],
  ['globs', `rm -rf '${'/*'.repeat(50_000)}x'`],
  ['dots in a host', `curl http://a${'.'.repeat(200_000)}b/`],
  ['empty lines in a script of sed', `sed '${'\n'.repeat(200_000)}x' file`],
  ['empty lines in what a command prints', `echo "$(printf %s '${'\n'.repeat(200_000)}x')"`],
  ['slashes in a path', `find ${'/'.repeat(200_000)}x -exec rm {} +`],
  ['slashes in an address', `git push ${'/'.repeat(200_000)}x`],
])('%s are judged as fast as they are long', async (_what, command) => {
  expect(await rules().analyze({ action: 'run', command })).toHaveProperty('risk');
});

test('a run of the character that is to go is passed once', () => {
  expect(withoutEnd(`${'/'.repeat(500_000)}x///`, '/')).toHaveLength(500_001);
  expect(withoutEnd('a \t \t', ' ', '\t')).toBe('a');
  expect(withoutEnd('///', '/')).toBe('');
});
