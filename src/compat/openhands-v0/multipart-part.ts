import { readForm } from '../form.js';
import { HttpError, unreadable } from './http-error.js';
import { words } from './openhands-words.js';

export interface FilePart {
  readonly filename: string;
  readonly content: AsyncIterable<Buffer>;
}

/** The part that is a file with the given field name; skips other parts before it. */
export async function openFilePart(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
  name: string,
): Promise<FilePart> {
  const parts = readForm(body, contentType, (reason, kind) =>
    kind === 'no-form'
      ? unreadable(words('transfer.bad_form', { reason }))
      : new HttpError(400, words('transfer.bad_form', { reason })),
  );
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const { name: field, filename, content } = next.value;
    if (field === name && filename !== undefined) return { filename, content };
  }
  throw unreadable(words('transfer.no_file'));
}
