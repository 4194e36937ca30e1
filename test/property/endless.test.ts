import { expect, test } from 'vitest';
import { soakEndless } from '../../scripts/soak/endless.js';
import { leftovers, print } from '../../scripts/soak/report.js';

/** `npm run soak` does the same with ten times as much. */
test('a GiB of output to slow and to absent readers adds less than 64 MiB to a server', async () => {
  const report = await soakEndless({ bytes: 1024 ** 3 });
  print(report);
  expect(leftovers(report)).toEqual([]);
});
