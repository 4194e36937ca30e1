import { readForm } from '../../form.js';
import { Problems, Refusal } from '../detail-errors.js';
import { words } from '../openhands-v1-messages.js';

/** The bytes of the first part with that name. Ends only when the whole body was well-formed. */
export async function* filePart(
  body: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  name: string,
): AsyncGenerator<Buffer> {
  let isFound = false;
  for await (const part of readForm(body, contentType, refusal)) {
    if (isFound || part.name !== name) continue;
    isFound = true;
    yield* part.content;
  }
  if (!isFound)
    throw new Refusal(422, new Problems([{ type: 'missing', loc: ['body', name], msg: 'Field required' }]));
}

function refusal(reason: string, kind: 'no-form' | 'malformed'): Refusal {
  return kind === 'no-form'
    ? new Refusal(422, words('http.no_form', { reason }))
    : new Refusal(400, words('http.bad_form', { reason }));
}
