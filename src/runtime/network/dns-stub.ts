/**
 * Answers the DNS questions of a cell. It never asks outside for a name that no rule allows. Such a name gets an
 * address all the same, so that we can refuse the connection with a reason that the program shows.
 */
import type { Duplex } from 'node:stream';
import { parseHost } from '../../protocol/network/host.js';
import type { CellNames } from './cell-names.js';
import { answer, malformed, parseQuestion, recordTypes, responseCodes } from './dns-message.js';

export interface StubOptions {
  readonly names: CellNames;
  /** False for an allowed name that does not exist. Asks nobody about a forbidden name. */
  exists(name: string): Promise<boolean>;
}

/** What one cell may hold here at a time over TCP. Programs ask over UDP first, and few of them keep a stream. */
const mostStreams = 64;
const mostReplies = 1000;
const idleMs = 30_000;
/** Names that are looked up, however they were asked for. Whoever answers for a name decides how long that takes. */
const mostPending = 512;
/** Questions are far shorter. */
const longestMessage = 4096;

export class DnsStub {
  readonly #options: StubOptions;
  #streams = 0;
  #pending = 0;

  constructor(options: StubOptions) {
    this.#options = options;
  }

  /** The reply to one message; undefined where it gets none. */
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
    // A name without a dot is none of the outside, and we ask nobody there who an address belongs to.
    if (!name.includes('.') || /\.(?:arpa|local)$/.test(name)) return answer(question, responseCodes.noName);
    const exists = await this.#exists(name);
    if (exists === undefined) return answer(question, responseCodes.failed);
    if (!exists) return answer(question, responseCodes.noName);
    // No IPv6, and no HTTPS records: a key for hiding the name of the server would come with them.
    if (!isAddress(question.type)) return answer(question, responseCodes.ok);
    return answer(question, responseCodes.ok, this.#options.names.addressOf(name));
  }

  /** Undefined where nobody can tell. */
  async #exists(name: string): Promise<boolean | undefined> {
    if (this.#pending >= mostPending) return undefined;
    this.#pending++;
    try {
      return await this.#options.exists(name);
    } catch {
      return undefined;
    } finally {
      this.#pending--;
    }
  }

  /** The same over TCP: each message follows its length. */
  async serve(stream: Duplex): Promise<void> {
    if (this.#streams >= mostStreams) return void stream.destroy();
    this.#streams++;
    const idle = setTimeout(() => stream.destroy(), idleMs).unref();
    try {
      await this.#serve(stream, () => idle.refresh());
    } finally {
      clearTimeout(idle);
      this.#streams--;
    }
  }

  async #serve(stream: Duplex, onReply: () => void): Promise<void> {
    let pending = Buffer.alloc(0);
    let replies = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        const reply = await this.reply(pending.subarray(2, end));
        pending = pending.subarray(end);
        if (reply === undefined) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        // A program that does not read its replies gets no more of them; cut it off when the time is over.
        await written(stream, Buffer.concat([length, reply]));
        if (stream.destroyed || ++replies === mostReplies) return;
        onReply();
      }
      if (pending.length >= 2 && pending.readUInt16BE(0) > longestMessage) return;
    }
    stream.end();
  }
}

/** Resolves when the stream has taken the bytes, or is closed. */
function written(stream: Duplex, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('close', done);
      resolve();
    };
    stream.once('close', done);
    stream.write(bytes, done);
  });
}

function isAddress(type: number): boolean {
  return type === recordTypes.a || type === recordTypes.any;
}
