/** Reads JSON bodies: within a size, not too deep, and without keys that reach prototypes. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { WorkcellError } from '../../protocol/index.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Tells two JSON bodies apart, whatever blanks they are written with. */
    bodyHash: string;
  }
}

export function acceptJson(app: FastifyInstance, limits: { bodyBytes: number; jsonDepth: number }): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.decorateRequest('bodyHash', '');
  app.removeAllContentTypeParsers();
  // curl sends a form type with `-d` unless it is told otherwise; what counts is that the body is JSON.
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer', bodyLimit: limits.bodyBytes },
      (request, body: Buffer, done) => {
        if (nestingOf(body) > limits.jsonDepth) {
          done(
            new WorkcellError(
              'request-too-large',
              `The JSON body is nested more than ${limits.jsonDepth} levels deep.`,
            ),
          );
          return;
        }
        parse(request, body.toString('utf8'), (error: Error | null, value?: unknown) => {
          if (error === null) request.bodyHash = hashOf(value);
          done(error, value);
        });
      },
    );
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

const quote = 0x22;
const backslash = 0x5c;

/** How deep brackets are nested, found before anything is built from them. */
export function nestingOf(body: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index];
    if (byte === quote) index = endOfString(body, index + 1);
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
}

function endOfString(body: Buffer, start: number): number {
  let end = body.indexOf(quote, start);
  while (end !== -1 && isEscaped(body, end, start)) end = body.indexOf(quote, end + 1);
  return end === -1 ? body.length : end;
}

function isEscaped(body: Buffer, at: number, start: number): boolean {
  let first = at;
  while (first > start && body[first - 1] === backslash) first--;
  return (at - first) % 2 === 1;
}
