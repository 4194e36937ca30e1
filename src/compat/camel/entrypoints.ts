import { WorkcellError } from '../../protocol/index.js';

/** An entry point with the arguments that CAMEL's clients put directly behind it, as JSON. */
export function splitEntrypoint(text: string): { entrypoint: string; arguments: unknown } {
  const [, entrypoint = text, json] = /^([^{]*)(\{.*\})?$/s.exec(text) ?? [];
  if (json === undefined) return { entrypoint, arguments: undefined };
  try {
    return { entrypoint, arguments: JSON.parse(json) };
  } catch (cause) {
    throw new WorkcellError(
      'invalid-tool',
      `The entry point ${JSON.stringify(text)} ends in something that is not JSON: ${json}.`,
      { details: { entrypoint: text }, cause },
    );
  }
}
