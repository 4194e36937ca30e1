import { expect, test } from 'vitest';
import { openPipes } from '../../../src/cell/launchers/anonymous-pipes.js';

test('a program that closes its input while it is written to ends nothing but the pipe', async () => {
  const { stdin, closeInner, close } = await openPipes();
  closeInner();
  // Listens for nothing but the end: an error that nobody listens for would end this process.
  const closed = new Promise<void>((resolve) => stdin.once('close', () => resolve()));
  stdin.write('nobody reads this');
  await closed;
  expect(stdin.destroyed).toBe(true);
  close();
});
