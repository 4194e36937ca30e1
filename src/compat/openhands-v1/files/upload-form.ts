/** Brings the file of a form into the cell; it appears when the last byte has arrived. */
import type { Executor } from '../../../protocol/index.js';
import { filePart } from './multipart-file.js';

export async function uploadForm(
  executor: Executor,
  path: string,
  form: { readonly body: AsyncIterable<Uint8Array>; readonly contentType: string | undefined },
): Promise<void> {
  let failure: unknown;
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* filePart(form.body, form.contentType, 'file');
    } catch (error) {
      // Keep it: on the way through the executor it would lose what it says about the request.
      failure = error;
      throw error;
    }
  }
  try {
    await executor.upload(path, content());
  } catch (error) {
    throw failure ?? error;
  }
}
