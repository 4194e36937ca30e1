/** The forms in which a secret may leave: as it is, and in the encodings that programs put around text. */

/** Every form, longest first, without line breaks: the search ignores those. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const forms = new Set<string>([
    value,
    // The bytes one by one, for searching a stream of bytes.
    bytes.toString('latin1'),
    jsonEscaped(value),
    ...longLines(value),
    ...urlEncoded(value),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ]);
  for (const encoded of base64Cores(bytes)) {
    forms.add(encoded);
    forms.add(encoded.replaceAll('+', '-').replaceAll('/', '_'));
    forms.add(encodeURIComponent(encoded));
  }
  // A form that is much shorter than the secret would hide harmless text.
  return [...forms]
    .map(withoutLineBreaks)
    .filter((form) => form.length >= Math.min(value.length, shortestForm))
    .sort((left, right) => right.length - left.length);
}

const shortestForm = 6;

function withoutLineBreaks(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, '') : text;
}

/** Programs show a key of several lines line by line. The frame around a key is no secret. */
function longLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/);
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= shortestLine && !/^-{4}/.test(line));
}

const shortestLine = 16;

function jsonEscaped(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function urlEncoded(value: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(value, 'utf8').toString('utf8'));
  const strict = encoded.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [encoded, strict].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    form.replaceAll('%20', '+'),
  ]);
}

/** What base64 makes of the bytes at each of the three places they can have in a longer text, without the edges that depend on their neighbours. */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(first, last);
  });
}
