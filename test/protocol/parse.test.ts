import { expect, test } from 'vitest';
import { parseAction } from '../../src/protocol/index.js';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test('a field that there is not is told with those that there are', () => {
  const run = () => parseAction({ action: 'run', command: 'ls', timeout: 5 });
  expect(run).toThrow('Unrecognized key: "timeout". Did you mean timeoutMs? Accepted: command, ');
  const read = () => parseAction({ action: 'read' });
  expect(read).toThrow(/^The action "read" is not valid: path: [^.]*\.$/);
});

test('an action that is nested without end is refused before anything walks through it', () => {
  const run = (levels: number) => () => parseAction({ action: 'run', command: nested(levels) });
  const tooDeep = 'has more than 512 levels';
  const saying = (message: unknown) => expect.objectContaining({ code: 'invalid-action', message });
  expect(run(500)).toThrow(saying(expect.not.stringContaining(tooDeep)));
  expect(run(20_000)).toThrow(saying(expect.stringContaining(tooDeep)));
});
