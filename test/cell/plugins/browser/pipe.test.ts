/** The pipe to a browser, which other programs of the cell can write to, too. */
import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openMessagePipe } from '../../../../src/cell/plugins/browser/pipe.js';

function open() {
  const output = new PassThrough();
  const pipe = openMessagePipe(new PassThrough(), output);
  const heard: object[] = [];
  const closed = new Promise<string | undefined>((resolve) => {
    pipe.onclose = resolve;
  });
  pipe.onmessage = (message) => heard.push(message);
  return { output, pipe, heard, closed };
}

test.each(['no message\0', 'null\0', '7\0'])('what is no message closes it: %j', async (text) => {
  const { output, closed } = open();
  output.write(text);
  expect(await closed).toContain('no message');
});

test('a driver that throws for a message closes it, and nothing else', async () => {
  const { output, pipe, closed } = open();
  pipe.onmessage = () => {
    throw new Error('Assertion error');
  };
  output.write('{"id":1,"result":{}}\0');
  expect(await closed).toContain('Assertion error');
});

test('an answer with too many values is answered with a failure in its place', async () => {
  const { output, pipe, heard } = open();
  const session = 'A'.repeat(32);
  const values = '[],'.repeat(1_000_001);
  const done = new Promise<void>((resolve) => {
    pipe.onmessage = (message) => heard.push(message) === 2 && resolve();
  });
  output.write(`{"id":7,"result":[${values}0],"sessionId":"${session}"}\0`);
  output.write(`{"method":"Page.loaded","params":[${values}0]}\0{"id":8,"result":{}}\0`);
  await done;
  expect(heard).toEqual([
    { id: 7, sessionId: session, error: { code: -32_000, message: expect.stringContaining('values') } },
    { id: 8, result: {} },
  ]);
  pipe.close();
});

test('thousands of messages in one piece let others have their turn, and their end comes last', async () => {
  const { output, heard, closed } = open();
  output.write('{"id":1}\0'.repeat(7000));
  output.end();
  output.once('end', () => output.destroy());
  await new Promise((resolve) => setTimeout(resolve));
  expect(heard.length).toBeLessThan(7000);
  expect(await closed).toBe('The browser ended.');
  expect(heard.length).toBe(7000);
});

test('a message without end closes it', async () => {
  const { output, closed } = open();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let count = 0; count < 34; count++) output.write(piece);
  expect(await closed).toContain('more than');
});

// The owner starts a browser for each message.
const patience = { timeout: 240_000 };

test('messages that no browser sends do not end the owner, and the next action works', patience, async () => {
  const owner = fileURLToPath(new URL('injected-owner.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', owner]);
  const lines = stdout.trim().split('\n');
  expect(lines.pop()).toBe('alive');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ error: null });
});
