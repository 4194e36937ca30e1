import { expect, test } from 'vitest';
import { Spool } from '../../../../src/cell/executor/output/spool.js';
import { currentScreen, excerpt } from '../../../../src/cell/executor/shell/shell-excerpt.js';

const size = { columns: 80, rows: 24 };

function spoolOf(text: string | Buffer): Spool {
  const spool = new Spool(() => `/tmp/workcell-excerpt-test-${process.pid}`);
  spool.append(Buffer.from(text as string));
  return spool;
}

test('bytes that are no text cost no more to cut than text does', async () => {
  // A pattern that looks for the end of a run of replacement characters tries every one of them as its start.
  const spool = spoolOf(Buffer.concat([Buffer.alloc(900_000, 0xff), Buffer.from('x')]));
  const { text, truncated } = await excerpt(spool, 0, 400_000, size, 'id');
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThan(401_000);
  expect(text.endsWith('\ufffdx')).toBe(true);
});

test('characters at the cut are whole', async () => {
  const { text } = await excerpt(spoolOf('é'.repeat(1000)), 0, 301, size, 'id');
  expect(text).toMatch(/^é+\n\[… 2000 bytes in all.*\]\né+$/);
});

test('the last switch of the screen decides, however many there were', async () => {
  const switches = '\x1b[?1049h\x1b[?1049l'.repeat(30_000);
  expect(await currentScreen(spoolOf(switches), size)).toBeUndefined();
  expect(await currentScreen(spoolOf(`${switches}\x1b[?47hshown`), size)).toBe('shown');
});
