import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openHost } from './open-host.js';

const length = 2_000_000;

function printer() {
  const { launcher, workspace, env } = openHost();
  return async (letter: string) => {
    const script = `head -c ${length} /dev/zero | tr '\\0' ${letter}`;
    const { stdout, stderr } = await launcher.spawn(['sh', '-c', script], { cwd: workspace, env });
    stderr.resume();
    return stdout;
  };
}

test('what listeners keep of several programs stays as it was printed', async () => {
  const print = printer();
  const letters = ['a', 'b', 'c'];
  const kept = await Promise.all(letters.map(async (letter) => buffer(await print(letter))));
  for (const [index, letter] of letters.entries())
    expect(kept[index]?.equals(Buffer.alloc(length, letter))).toBe(true);
});

test('a borrower gets every byte once, also when it rests', async () => {
  const print = printer();
  const outputs = await Promise.all(['a', 'b'].map(print));
  const received = outputs.map((output) => {
    const pieces: Buffer[] = [];
    output.lend((piece) => {
      pieces.push(Buffer.from(piece));
      if (pieces.length % 3 > 0) return;
      output.pause();
      setImmediate(() => output.resume());
    });
    return pieces;
  });
  await Promise.all(outputs.map((output) => once(output, 'end')));
  expect(Buffer.concat(received[0] ?? []).equals(Buffer.alloc(length, 'a'))).toBe(true);
  expect(Buffer.concat(received[1] ?? []).equals(Buffer.alloc(length, 'b'))).toBe(true);
});

test('what came before there was a borrower comes first', async () => {
  const output = await printer()('a');
  await once(output, 'readable');
  let total = 0;
  output.removeAllListeners('readable');
  output.lend((piece) => {
    total += piece.length;
  });
  output.resume();
  await once(output, 'end');
  expect(total).toBe(length);
});

test('pieces that are lent lie in one place', async () => {
  const output = await printer()('a');
  const uses = new Map<ArrayBufferLike, number>();
  let pieces = 0;
  output.lend(({ buffer: place }) => {
    pieces++;
    uses.set(place, (uses.get(place) ?? 0) + 1);
  });
  await once(output, 'end');
  expect(pieces).toBeGreaterThan(20);
  // Some arrived before anybody listened, so the stream had to keep them.
  expect(Math.max(...uses.values())).toBeGreaterThan(pieces - 10);
});
