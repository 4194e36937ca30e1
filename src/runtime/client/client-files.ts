/** Files over the wire: streams up and down. */

import { Readable } from 'node:stream';
import { parseJson } from '../../base/json.js';
import {
  type Downloaded,
  type DownloadOptions,
  type Uploaded,
  type UploadOptions,
  WorkcellError,
} from '../../protocol/index.js';
import { uploadedSchema } from '../../protocol/wire.js';
import { disconnected } from './client-failures.js';
import { readText } from './read-body.js';
import type { Link, LinkAnswer } from './server-link.js';

/** Unpacking and writing may take long after the last byte. */
const uploadAnswerMs = 600_000;

/** Abandon a download that breaks off this often without another byte. */
const mostFruitless = 3;

/** You can read the content only once, so do not retry an upload. */
export async function upload(
  link: Link,
  path: string,
  content: AsyncIterable<Uint8Array>,
  { format, mode, signal }: UploadOptions,
): Promise<Uploaded> {
  checkCancelled(signal, 'upload');
  const query = new URLSearchParams({ path });
  if (format !== undefined) query.set('format', format);
  if (mode !== undefined) query.set('mode', mode.toString(8));
  let sourceError: { error: unknown } | undefined;
  const body = Readable.from(
    watched(content, (error) => {
      sourceError = { error };
    }),
    { objectMode: false },
  );
  try {
    const answer = await link.request({
      method: 'PUT',
      path: `/v1/files?${query}`,
      headers: { 'content-type': 'application/octet-stream' },
      body,
      signal,
      answerMs: uploadAnswerMs,
    });
    return uploadedSchema.parse(parseJson(await readText(answer.body, 65_536)));
  } catch (error) {
    if (sourceError !== undefined) throw sourceError.error;
    checkCancelled(signal, 'upload');
    throw WorkcellError.isInstance(error) ? error : disconnected(link.where, error);
  } finally {
    body.destroy();
  }
}

export async function download(link: Link, path: string, options: DownloadOptions): Promise<Downloaded> {
  const { format, start = 0, end, signal } = options;
  checkCancelled(signal, 'download');
  const ask = (received: number, version?: string) => {
    const query = new URLSearchParams({ path });
    if (format !== undefined) query.set('format', format);
    if (start + received > 0) query.set('start', String(start + received));
    if (end !== undefined) query.set('end', String(end));
    const headers = version === undefined ? {} : { 'if-match': version };
    const request = { method: 'GET', path: `/v1/files?${query}`, headers, signal } as const;
    return link
      .retrying(() => link.request(request), signal)
      .catch((error: unknown) => {
        checkCancelled(signal, 'download');
        throw error;
      });
  };
  const answer = await ask(0);
  const { 'workcell-size': size, etag } = answer.headers;
  return {
    mediaType: String(answer.headers['content-type'] ?? 'application/octet-stream'),
    ...(typeof size === 'string' && { sizeBytes: Number(size) }),
    ...(typeof etag === 'string' && { version: etag.slice(1, -1) }),
    content: contentOf(answer, { link, path, ask, signal }),
  };
}

interface Download {
  readonly link: Link;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** Asks for the rest after this many bytes, if the file still has that version. */
  ask(received: number, version: string): Promise<LinkAnswer>;
}

/**
 * Resumes after each lost connection where it broke off. It cannot resume an archive, because the server packs it anew
 * each time.
 */
async function* contentOf(first: LinkAnswer, download: Download): AsyncGenerator<Uint8Array> {
  const { link, path, ask, signal } = download;
  const { etag } = first.headers;
  let answer = first;
  let received = 0;
  for (let fruitless = 0; ; fruitless++) {
    try {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        received += chunk.length;
        fruitless = 0;
        yield chunk;
      }
      return;
    } catch (error) {
      checkCancelled(signal, 'download');
      if (WorkcellError.isInstance(error)) throw error;
      if (typeof etag !== 'string' || fruitless >= mostFruitless)
        throw brokenOff(link, path, received, error);
    }
    answer = await ask(received, etag);
  }
}

function brokenOff(link: Link, path: string, received: number, cause: unknown): WorkcellError {
  return new WorkcellError(
    'runtime-disconnected',
    `The download of "${path}" broke off after ${received} bytes. Download it again.`,
    { details: disconnected(link.where, cause).details, cause },
  );
}

async function* watched(
  content: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    onError(error);
    throw error;
  }
}

function checkCancelled(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw new WorkcellError('cancelled', `The ${what} was cancelled by the caller.`);
}
