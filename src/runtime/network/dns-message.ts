/** The few DNS messages that the stub of a cell reads and writes (RFC 1035). */

export interface Question {
  /** In lower case, without a dot at its end. */
  readonly name: string;
  readonly type: number;
  /** The header and the question as they came, for the answer to repeat. */
  readonly head: Buffer;
}

export const recordTypes = { a: 1, any: 255 } as const;
export const responseCodes = { ok: 0, malformed: 1, failed: 2, noName: 3, refused: 5 } as const;

const headerBytes = 12;
const internet = 1;

/** Undefined for a message that is no question: it gets no reply. */
export function parseQuestion(message: Buffer): Question | 'malformed' | undefined {
  if (message.length < headerBytes) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) !== 0) return undefined;
  // A standard query with one question and nothing that only an answer has.
  if ((flags & 0x7800) !== 0 || message.readUInt16BE(4) !== 1 || message.readUInt16BE(6) !== 0)
    return 'malformed';
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = message[at];
    // Two high bits would be a pointer, which a question has no use for.
    if (length === undefined || length > 63 || at - headerBytes > 255) return 'malformed';
    at++;
    if (length === 0) break;
    labels.push(message.toString('latin1', at, at + length));
    at += length;
  }
  if (message.length < at + 4 || message.readUInt16BE(at + 2) !== internet) return 'malformed';
  const type = message.readUInt16BE(at);
  // A dot inside of a label would move the boundary between labels.
  const name = labels.some((label) => label.includes('.')) ? '\0' : labels.join('.').toLowerCase();
  return { name, type, head: message.subarray(0, at + 4) };
}

const ttlSeconds = 30;

/** An answer with at most one IPv4 address. */
export function answer({ head }: Question, code: number, address?: string): Buffer {
  const reply = Buffer.from(head);
  writeHeader(reply, code, address === undefined ? 0 : 1);
  reply.writeUInt16BE(1, 4);
  if (address === undefined) return reply;
  const record = Buffer.alloc(16);
  // A pointer to the name in the question.
  record.writeUInt16BE(0xc000 | headerBytes, 0);
  record.writeUInt16BE(recordTypes.a, 2);
  record.writeUInt16BE(internet, 4);
  record.writeUInt32BE(ttlSeconds, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of address.split('.').entries()) record.writeUInt8(Number(part), 12 + index);
  return Buffer.concat([reply, record]);
}

/** For a question that we cannot read. */
export function malformed(message: Buffer): Buffer {
  const reply = Buffer.from(message.subarray(0, headerBytes));
  writeHeader(reply, responseCodes.malformed, 0);
  reply.writeUInt16BE(0, 4);
  return reply;
}

/** An answer, recursion available; of the flags it repeats only "recursion desired". */
function writeHeader(reply: Buffer, code: number, answers: number): void {
  const desired = reply.readUInt16BE(2) & 0x0100;
  reply.writeUInt16BE(0x8080 | desired | code, 2);
  reply.writeUInt16BE(answers, 6);
  reply.writeUInt32BE(0, 8);
}
