import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Frames } from '../../../src/runtime/client/wire-frames.js';

const delta = (text: string) => ({ type: 'output-delta', stream: 'stdout', sequence: 0, text });

function framed(text: string): string {
  const { text: _text, ...rest } = delta(text);
  return `${JSON.stringify({ progress: rest, textBytes: Buffer.byteLength(text) })}\n${text}`;
}

test('messages are the same however the bytes arrive, and empty lines between them do not count', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 });
  fc.assert(
    fc.property(texts, fc.array(fc.nat({ max: 40 }), { minLength: 1 }), (given, sizes) => {
      const bytes = Buffer.from(
        `${given.map((text) => `\n${framed(text)}`).join('')}\n{"observation":{"ok":1}}\n`,
      );
      const frames = new Frames(1024);
      const messages: unknown[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = (sizes[turn % sizes.length] ?? 0) + 1;
        messages.push(...frames.take(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(messages).toEqual([
        ...given.map((text) => ({ progress: delta(text) })),
        { observation: { ok: 1 } },
      ]);
      expect(frames.position).toBe(bytes.length - given.length - 1);
    }),
  );
});

test.each([
  ['a line that is not JSON', 'nonsense\n', 'internal'],
  ['a length without a text', '{"textBytes":3}\nabc', 'internal'],
  ['a length that is none', '{"progress":{},"textBytes":-1}\n', 'internal'],
  ['a text beyond the limit', '{"progress":{},"textBytes":65}\n', 'file-too-large'],
  ['a line beyond the limit', `"${'x'.repeat(70)}`, 'file-too-large'],
])('%s is refused', (_what, text, code) => {
  const frames = new Frames(64);
  expect(() => [...frames.take(Buffer.from(text))]).toThrow(expect.objectContaining({ code }));
});
