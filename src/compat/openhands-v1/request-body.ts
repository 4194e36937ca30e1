/** Reads bodies that the server does not parse: uploads, and the JSON of a GET request. */

import type { IncomingMessage } from 'node:http';
import { parseBody } from '../../base/http/json-body.js';
import { Problems, Refusal } from './detail-errors.js';
import { words } from './openhands-v1-messages.js';

/** In which the next piece must arrive. */
const silenceMs = 30_000;

const largestJson = 1024 * 1024;
const deepestJson = 64;

/**
 * The bytes as they come. A reader that stops early leaves the connection open, so that the client hears why, and
 * drops the rest of the body.
 */
export async function* bodyOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    timer = setTimeout(() => request.destroy(new Error('silence')), silenceMs);
  };
  try {
    watch();
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      clearTimeout(timer);
      yield chunk as Uint8Array;
      watch();
    }
  } catch {
    throw new Refusal(400, words('http.broken_body'));
  } finally {
    clearTimeout(timer);
    // Nothing else reads the rest of the body, and the next request waits behind it.
    request.resume();
  }
}

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyOf(request)) {
    size += chunk.length;
    if (size > largestJson) throw new Refusal(413, words('http.large_body', { bytes: largestJson }));
    chunks.push(chunk);
  }
  try {
    return parseBody(Buffer.concat(chunks), deepestJson);
  } catch {
    throw new Refusal(422, new Problems([{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error' }]));
  }
}
