/** Puts secrets in the place of their placeholders, and looks through what is sent for what must not be there. */
import type { IncomingMessage } from 'node:http';
import type { EditedRequest } from '../http-client.js';
import type { HttpTarget } from '../http-target.js';
import { Refusal } from '../refusal.js';
import type { Placeholders } from './placeholders.js';

/** Of a body in which secrets are put: it has to be whole before its length can be told. */
const longestBody = 1_048_576;

interface By {
  readonly placeholders: Placeholders;
  /** The request came over TLS, and leaves so. */
  readonly isSecure: boolean;
  /** What reads a body by the rules of this moment. */
  reader(): Scan | undefined;
  /** Told of each refusal, also of those within a body. */
  onRefused(refusal: Refusal): void;
}

/** Throws a `Refusal`. */
export async function editRequest(
  { placeholders, isSecure, reader, onRefused }: By,
  { host, port, path }: HttpTarget,
  incoming: IncomingMessage,
): Promise<EditedRequest> {
  const { method = 'GET', rawHeaders } = incoming;
  const refuse = (error: unknown) => {
    const { message } = error as Error;
    const reason = message.charAt(0).toLowerCase() + message.slice(1);
    const refusal = new Refusal(host, port, { allowed: false, reason });
    onRefused(refusal);
    return refusal;
  };
  const scans = [whenSent(reader)];
  const to = { host, port, isSecure };
  try {
    if (placeholders.isEmpty) return { rawHeaders, scan: throughAll(scans, refuse) };
    placeholders.refuseIn(path);
    // A server answers it with what it was sent.
    if (method === 'TRACE' && placeholders.isFor(to)) throw new Error('A TRACE would show the secrets');
    const filled = await placeholders.fillHeaders(to, rawHeaders);
    if (!placeholders.fillsBodies(to)) {
      scans.push(placeholders.scan());
      return { rawHeaders: filled, scan: throughAll(scans, refuse) };
    }
    // An upgrade has no body, and what follows it passes unread.
    if (incoming.headers.upgrade !== undefined) return { rawHeaders: filled };
    const share = placeholders.bodies.share();
    try {
      const body = await placeholders.fillBody(to, await wholeBody(incoming, share.add));
      const scan = throughAll(scans, refuse);
      return { rawHeaders: withLength(filled, body.length), body, scan, release: share.release };
    } catch (error) {
      share.release();
      throw error;
    }
  } catch (error) {
    throw refuse(error);
  }
}

type Scan = (chunk: Buffer) => void;

/** The first piece is there when the body is sent, and rules may have changed until then. */
function whenSent(reader: () => Scan | undefined): Scan {
  let scan: Scan | undefined;
  return (chunk) => {
    scan ??= reader() ?? (() => {});
    scan(chunk);
  };
}

function throughAll(scans: readonly Scan[], refuse: (error: unknown) => Refusal): Scan {
  return (chunk) => {
    try {
      for (const scan of scans) scan(chunk);
    } catch (error) {
      throw refuse(error);
    }
  };
}

async function wholeBody(incoming: IncomingMessage, hold: (bytes: number) => void): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity' } = incoming.headers;
  if (encoding !== 'identity') throw new Error('Its body is compressed, and secrets are to be put in');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    hold(chunk.length);
    if (length > longestBody)
      throw new Error(`Its body is longer than ${longestBody} bytes, and secrets are to be put in`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Without a body, nothing is said of its length. */
function withLength(raw: readonly string[], length: number): string[] {
  const framing = /^(?:content-length|transfer-encoding|trailer)$/i;
  const kept = raw.filter((_, index) => !framing.test(raw[index - (index % 2)] ?? ''));
  const hadFraming = kept.length < raw.length;
  return hadFraming ? [...kept, 'Content-Length', String(length)] : kept;
}
