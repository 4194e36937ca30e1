/** Sends a call to the client: as one JSON document, or line by line while it runs. */
import type { FastifyReply } from 'fastify';
import { Outgoing } from '../../base/http/outgoing.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';
import { framesType, linesType } from '../../protocol/wire.js';
import type { Call } from './server-call.js';

const pieceBytes = 256 * 1024;

/** The observation or error alone, with the status of the latter. */
export async function answerWhole(call: Call, reply: FastifyReply): Promise<void> {
  using _reader = call.attach();
  const outgoing = new Outgoing(reply.raw);
  const gone = new Promise<undefined>((resolve) => {
    outgoing.gone.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const outcome = await Promise.race([call.done, gone]);
  reply.hijack();
  if (outcome === undefined) return;
  const status = outcome.code === undefined ? 200 : errorTable[outcome.code].status;
  reply.raw.writeHead(status, {
    ...headers(reply, call),
    'content-type': 'application/json; charset=utf-8',
    'content-length': outcome.body.length,
  });
  // Write in pieces, to see the progress of a slow reader.
  for (let at = 0; at + pieceBytes < outcome.body.length; at += pieceBytes)
    await outgoing.write(outcome.body.subarray(at, at + pieceBytes));
  const rest = outcome.body.length % pieceBytes || Math.min(pieceBytes, outcome.body.length);
  await outgoing.end(outcome.body.subarray(outcome.body.length - rest));
}

/** Lines of JSON from a byte position to the end; an empty line now and then while there is nothing to tell. */
export async function answerLines(
  call: Call,
  reply: FastifyReply,
  options: { from: number; heartbeatMs: number },
): Promise<void> {
  checkKept(call, options.from);
  using reader = call.attach(options.from);
  reply.hijack();
  const outgoing = new Outgoing(reply.raw);
  const head = { ...headers(reply, call), 'content-type': call.framed ? framesType : linesType };
  while (!outgoing.gone.aborted) {
    const chunk = call.read(reader.position);
    // Only a reader that lost its connection and comes back late gets here; the broken stream tells it to ask again.
    if (chunk === undefined) return void reply.raw.destroy();
    const isLast = call.ended && reader.position + chunk.length === call.totalBytes;
    if (!reply.raw.headersSent) {
      if (isLast) reply.raw.writeHead(200, { ...head, 'content-length': chunk.length });
      else if (chunk.length > 0) reply.raw.writeHead(200, head);
    }
    if (isLast) {
      await outgoing.end(chunk);
      return;
    }
    if (chunk.length > 0) {
      await outgoing.write(chunk);
      if (!outgoing.gone.aborted) reader.moveTo(reader.position + chunk.length);
      continue;
    }
    const before = call.totalBytes;
    await call.change(options.heartbeatMs, outgoing.gone);
    if (call.totalBytes !== before || call.ended) continue;
    if (!reply.raw.headersSent) reply.raw.writeHead(200, head);
    await outgoing.write('\n');
  }
}

function checkKept(call: Call, from: number): void {
  if (from <= call.totalBytes && call.read(from) !== undefined) return;
  throw new WorkcellError(
    'output-not-found',
    `The server no longer has what the action "${call.key}" reported from byte ${from} on; it reported ${call.totalBytes} bytes so far.`,
    { details: { key: call.key, from, totalBytes: call.totalBytes } },
  );
}

function headers(reply: FastifyReply, call: Call): Record<string, string> {
  return {
    ...(reply.getHeaders() as Record<string, string>),
    'idempotency-key': call.key,
    'cache-control': 'no-store',
  };
}
