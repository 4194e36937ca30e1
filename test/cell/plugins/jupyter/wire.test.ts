/** The wire to a kernel: what arrives in pieces, what is too long, and what is no message at all. */
import { createHmac } from 'node:crypto';
import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Messages } from '../../../../src/cell/plugins/jupyter/jupyter-messages.js';
import { type Frame, ZmtpConnection } from '../../../../src/cell/plugins/jupyter/zmtp.js';

const greeting = Buffer.concat([Buffer.of(0xff), Buffer.alloc(8), Buffer.of(0x7f, 3, 1), padded('NULL')]);

function padded(text: string): Buffer {
  const bytes = Buffer.alloc(52);
  bytes.write(text);
  return bytes;
}

function ready(): Buffer {
  const body = Buffer.concat([
    Buffer.from('\u0005READY\u000bSocket-Type'),
    Buffer.of(0, 0, 0, 6),
    Buffer.from('ROUTER'),
  ]);
  return Buffer.concat([Buffer.of(4, body.length), body]);
}

function frame(body: Buffer, isLast = true): Buffer {
  const flags = isLast ? 0 : 1;
  if (body.length < 256) return Buffer.concat([Buffer.of(flags, body.length), body]);
  const head = Buffer.alloc(9);
  head[0] = flags | 2;
  head.writeBigUInt64BE(BigInt(body.length), 1);
  return Buffer.concat([head, body]);
}

/** A connection whose other side is in the hands of the test. */
function connect(limitBytes = 1000) {
  const [own, other] = pair();
  const messages: Frame[][] = [];
  let failure: Error | undefined;
  const sent: Buffer[] = [];
  other.on('data', (chunk: Buffer) => sent.push(chunk));
  const connection = new ZmtpConnection(own, {
    type: 'SUB',
    limitBytes,
    onMessage: (frames) => void messages.push(frames),
    onEnd: (error) => {
      failure = error;
    },
  });
  return { connection, other, messages, sent: () => Buffer.concat(sent), failure: () => failure };
}

function pair(): [Duplex, Duplex] {
  const make = (peer: () => Duplex) =>
    new Duplex({
      read() {},
      write(chunk, _encoding, callback) {
        peer().push(chunk);
        callback();
      },
    });
  const first: Duplex = make(() => second);
  const second: Duplex = make(() => first);
  return [first, second];
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a connection', () => {
  test('reads messages whole, however they are cut', async () => {
    const { other, messages, connection } = connect();
    const long = Buffer.alloc(300, 'x');
    const bytes = Buffer.concat([
      greeting,
      ready(),
      frame(Buffer.from('one'), false),
      frame(Buffer.alloc(0), false),
      frame(long),
      frame(Buffer.from('two')),
    ]);
    for (const byte of bytes) other.write(Buffer.of(byte));
    await connection.ready;
    await settled();
    expect(messages).toEqual([[Buffer.from('one'), Buffer.alloc(0), long], [Buffer.from('two')]]);
  });

  test('subscribes only when the other side is ready', async () => {
    const { other, sent, connection } = connect();
    await settled();
    const before = sent().length;
    other.write(Buffer.concat([greeting, ready()]));
    await connection.ready;
    await settled();
    expect(sent().subarray(before)).toEqual(Buffer.of(0, 1, 1));
  });

  test('reads past what is too long, and goes on', async () => {
    const { other, messages, connection } = connect(100);
    other.write(Buffer.concat([greeting, ready(), frame(Buffer.from('head'), false)]));
    await connection.ready;
    const long = frame(Buffer.alloc(5000));
    other.write(long.subarray(0, 700));
    other.write(long.subarray(700));
    other.write(frame(Buffer.from('next')));
    await settled();
    expect(messages).toEqual([[Buffer.from('head'), { omittedBytes: 5000 }], [Buffer.from('next')]]);
  });

  test.each([
    ['another protocol', Buffer.from(`HTTP/1.1 400 Bad Request\r\n${' '.repeat(60)}`)],
    ['encryption', Buffer.concat([greeting.subarray(0, 12), padded('CURVE')])],
    ['flags that there are none of', Buffer.concat([greeting, Buffer.of(0xf0, 1, 1)])],
    ['an error', Buffer.concat([greeting, Buffer.of(4, 6), Buffer.from('\u0005ERROR')])],
    [
      'frames without end',
      Buffer.concat([greeting, ready(), ...Array(1030).fill(frame(Buffer.of(1), false))]),
    ],
  ])('ends at %s', async (_what, bytes) => {
    const { other, failure, connection } = connect();
    other.write(bytes);
    await connection.ready.catch(() => {});
    await settled();
    expect(failure()).toBeInstanceOf(Error);
  });
});

describe('messages', () => {
  const messages = new Messages('key');
  const { frames } = messages.write('status', { a: '✓' }, { msg_id: 'parent' });

  test('are read by who has the key', () => {
    expect(messages.read([Buffer.from('topic'), ...frames])).toMatchObject({
      type: 'status',
      parentId: 'parent',
      content: { a: '✓' },
    });
    expect(new Messages('other').read(frames)).toBeUndefined();
  });

  test.each([
    ['nothing', []],
    ['no delimiter', [Buffer.from('x')]],
    ['too few parts', frames.slice(0, 4)],
    ['a part that was left out', [...frames.slice(0, 5), { omittedBytes: 1 }]],
    ['another content', [...frames.slice(0, 5), Buffer.from('{"a":"x"}')]],
    ['no signature', [frames[0] as Buffer, Buffer.alloc(0), ...frames.slice(2)]],
  ])('%s is none', (_what, broken) => {
    expect(messages.read(broken as Frame[])).toBeUndefined();
  });

  test('what is signed and no JSON, or not what it should be, is none', () => {
    const signed = (parts: string[]) => {
      const hmac = createHmac('sha256', 'key');
      for (const part of parts) hmac.update(part);
      return [
        frames[0] as Buffer,
        Buffer.from(hmac.digest('hex')),
        ...parts.map((part) => Buffer.from(part)),
      ];
    };
    const header = '{"msg_id":"1","msg_type":"status"}';
    expect(messages.read(signed([header, '{}', '{}', '{}']))).toBeDefined();
    for (const parts of [
      ['{', '{}', '{}', '{}'],
      ['{"msg_id":1}', '{}', '{}', '{}'],
      [header, '{}', '{}', '[]'],
      [header, '{}', '{}', '7'],
    ])
      expect(messages.read(signed(parts))).toBeUndefined();
  });
});
