import { readForm } from '../../form.js';
import { Refusal } from '../detail-errors.js';

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
  if (!isFound) throw new Refusal(422, [{ type: 'missing', loc: ['body', name], msg: 'Field required' }]);
}

function refusal(reason: string, kind: 'no-form' | 'malformed'): Refusal {
  return kind === 'no-form'
    ? new Refusal(422, reason)
    : new Refusal(400, `There was an error parsing the body: ${reason}`);
}
