/**
 * Answers the DNS questions of a cell. A name that no rule allows is never asked for outside: it gets an address all the
 * same, so that the connection can be refused with a reason that the program shows.
 */
import type { Duplex } from 'node:stream';
import { parseHost } from '../../protocol/network/host.js';
import type { CellNames } from './cell-names.js';
import { answer, malformed, parseQuestion, recordTypes, responseCodes } from './dns-message.js';

export interface StubOptions {
  readonly names: CellNames;
  /** False for an allowed name that does not exist. Asks nobody about a name that is not allowed. */
  exists(name: string): Promise<boolean>;
}

export class DnsStub {
  readonly #options: StubOptions;

  constructor(options: StubOptions) {
    this.#options = options;
  }

  /** The reply to one message; undefined where there is none to give. */
  async reply(message: Buffer): Promise<Buffer | undefined> {
    const question = parseQuestion(message);
    if (question === undefined) return undefined;
    if (question === 'malformed') return malformed(message);
    const host = parseHost(question.name);
    if (host === undefined || !('name' in host)) return answer(question, responseCodes.noName);
    const { name } = host;
    if (name === 'localhost' || name.endsWith('.localhost'))
      return isAddress(question.type)
        ? answer(question, responseCodes.ok, '127.0.0.1')
        : answer(question, responseCodes.ok);
    // Without a dot it is no name of the outside, and nobody there is asked who an address belongs to.
    if (!name.includes('.') || /\.(?:arpa|local)$/.test(name)) return answer(question, responseCodes.noName);
    const exists = await this.#options.exists(name).catch(() => undefined);
    if (exists === undefined) return answer(question, responseCodes.failed);
    if (!exists) return answer(question, responseCodes.noName);
    // No IPv6, and no HTTPS records: a key for hiding the name of the server would come with them.
    if (!isAddress(question.type)) return answer(question, responseCodes.ok);
    return answer(question, responseCodes.ok, this.#options.names.addressOf(name));
  }

  /** The same over TCP: each message follows its length. */
  async serve(stream: Duplex): Promise<void> {
    let pending = Buffer.alloc(0);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        const reply = await this.reply(pending.subarray(2, end));
        pending = pending.subarray(end);
        if (reply === undefined) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        stream.write(Buffer.concat([length, reply]));
      }
    }
    stream.end();
  }
}

function isAddress(type: number): boolean {
  return type === recordTypes.a || type === recordTypes.any;
}
