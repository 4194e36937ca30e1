import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filePart } from '../../../src/compat/openhands-v1/files/multipart-file.js';

const type = 'multipart/form-data; boundary=edge';

test('the content of the part is the same, wherever the stream is cut', async () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n--', '\r\n--edg', 'edge', 'x'), { maxLength: 40 })
      .map((words) => Buffer.from(words.join('').replaceAll('\r\n--edge', 'x'))),
  );
  await fc.assert(
    fc.asyncProperty(content, fc.integer({ min: 1, max: 50 }), async (bytes, step) => {
      const body = form([
        ['name="other"', Buffer.from('before')],
        ['name="file"; filename="f"', bytes],
        ['name="file"; filename="g"', Buffer.from('again')],
      ]);
      expect(await read(body, step)).toEqual(bytes);
    }),
    { numRuns: 200 },
  );
});

test('names are taken from the head in any spelling', async () => {
  for (const head of ['name=file; filename=x', 'filename="name=\\"no\\""; name="file"', 'name="file"'])
    expect(String(await read(form([[head, Buffer.from('content')]]), 7))).toBe('content');
});

test('anything else is refused, and never hung on', async () => {
  const whole = form([['name="file"', Buffer.from('content')]]);
  for (let length = 0; length < whole.length - 4; length++)
    await expect(read(whole.subarray(0, length), 16)).rejects.toThrow();
  await expect(read(Buffer.alloc(100_000, 'x'), 1000)).rejects.toThrow();
  await expect(read(Buffer.from(`--edge\r\n${'x: y\r\n'.repeat(10_000)}`), 1000)).rejects.toThrow();
  await expect(read(whole, 16, 'multipart/form-data')).rejects.toMatchObject({ status: 422 });
  await expect(read(form([['name="other"', Buffer.from('')]]), 16)).rejects.toMatchObject({ status: 422 });
});

function form(parts: readonly (readonly [string, Buffer])[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([head, content]) => [
      Buffer.from(`--edge\r\nContent-Disposition: form-data; ${head}\r\nContent-Type: text/plain\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--edge--\r\n'),
  ]);
}

async function read(body: Buffer, step: number, contentType = type): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < body.length; at += step) yield body.subarray(at, at + step);
  }
  const pieces: Buffer[] = [];
  for await (const piece of filePart(chunks(), contentType, 'file')) pieces.push(piece);
  return Buffer.concat(pieces);
}
