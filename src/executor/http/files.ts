/** Files over the wire: streams up and down. */
import { Readable } from 'node:stream';
import {
  type Downloaded,
  type DownloadOptions,
  type Uploaded,
  type UploadOptions,
  WorkcellError,
} from '../../protocol/index.js';
import { readText } from './body.js';
import { disconnected } from './failures.js';
import type { Link, LinkAnswer } from './link.js';
import { uploadedSchema } from './wire.js';

/** Unpacking and writing may go on for long after the last byte was sent. */
const uploadAnswerMs = 600_000;

/** The content can be read once, so an upload is not tried again. */
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
    return uploadedSchema.parse(JSON.parse(await readText(answer.body, 65_536)));
  } catch (error) {
    if (sourceError !== undefined) throw sourceError.error;
    checkCancelled(signal, 'upload');
    throw WorkcellError.isInstance(error) ? error : disconnected(link.where, error);
  } finally {
    body.destroy();
  }
}

export async function download(
  link: Link,
  path: string,
  { format, start, end, signal }: DownloadOptions,
): Promise<Downloaded> {
  checkCancelled(signal, 'download');
  const query = new URLSearchParams({ path });
  if (format !== undefined) query.set('format', format);
  if (start !== undefined) query.set('start', String(start));
  if (end !== undefined) query.set('end', String(end));
  const answer = await link
    .retrying(() => link.request({ method: 'GET', path: `/v1/files?${query}`, signal }), signal)
    .catch((error: unknown) => {
      checkCancelled(signal, 'download');
      throw error;
    });
  const size = answer.headers['workcell-size'];
  return {
    mediaType: String(answer.headers['content-type'] ?? 'application/octet-stream'),
    ...(typeof size === 'string' && { sizeBytes: Number(size) }),
    content: contentOf(link, path, answer, signal),
  };
}

async function* contentOf(
  link: Link,
  path: string,
  answer: LinkAnswer,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      received += chunk.length;
      yield chunk;
    }
  } catch (error) {
    checkCancelled(signal, 'download');
    if (WorkcellError.isInstance(error)) throw error;
    const { details } = disconnected(link.where, error);
    throw new WorkcellError(
      'runtime-disconnected',
      `The download of "${path}" broke off after ${received} bytes. Download it again.`,
      { details, cause: error },
    );
  }
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
