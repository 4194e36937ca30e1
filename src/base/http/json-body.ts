/** Reads JSON bodies: within a size, not too deep, each key once, and without keys that reach prototypes. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { WorkcellError } from '../../protocol/index.js';
import { JsonError, parseJson } from '../json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Distinguishes two JSON bodies, whatever white space they contain. */
    bodyHash: string;
  }
}

export function acceptJson(app: FastifyInstance, limits: { bodyBytes: number; jsonDepth: number }): void {
  app.decorateRequest('bodyHash', '');
  app.removeAllContentTypeParsers();
  // curl sends a form type with `-d` by default; only the body counts, and it must be JSON.
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer', bodyLimit: limits.bodyBytes },
      (request, body: Buffer, done) => {
        let value: unknown;
        try {
          value = parseBody(body, limits.jsonDepth);
        } catch (error) {
          return void done(error as Error);
        }
        request.bodyHash = hashOf(value);
        done(null, value);
      },
    );
  }
}

/** Throws the error that a server answers a bad body with. */
export function parseBody(body: Uint8Array, depth: number): unknown {
  try {
    return parseJson(body, { depth });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const code = error.problem === 'too-deep' ? 'request-too-large' : 'invalid-action';
    throw new WorkcellError(code, `The JSON body is not valid: ${error.message}.`, {
      details: { problem: error.problem },
      cause: error,
    });
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
