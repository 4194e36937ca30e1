/**
 * The usual ways to have a server take a request for another than its first line says. Frameworks take the method of a
 * request from a header or from a field, and its path from a header.
 */

/** Servers that make variables of headers do not tell `-` from `_`. */
const ofMethod = /^x[-_](?:http[-_])?method(?:[-_]override)?$/i;
const ofPath = /^x[-_](?:original|rewrite|override)[-_]ur[il]$/i;

/** The field `_method`, in every spelling that PHP and Ruby take for it. */
const ofField = /^\s*[_.]method(?:[\0[]|$)/i;
const ofPart = /name\s{0,8}\*?\s{0,8}=\s{0,8}(?:["']|[\w-]{0,32}'[\w-]{0,32}')?\s{0,8}[_.]method["'\s;[\0]/i;

/** Of a name in a form or in a part of one; what comes behind does not make it `_method`. */
const longestName = 256;

/** What a header names beside the first line; undefined where none does. */
export function namedInHeaders(rawHeaders: readonly string[]): 'method' | 'path' | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.some((name) => ofMethod.test(name))) return 'method';
  return names.some((name) => ofPath.test(name)) ? 'path' : undefined;
}

/** True when the query of a path names a method. */
export function namesMethod(path: string): boolean {
  const query = /\?([^#]*)/.exec(path)?.[1] ?? '';
  return query.split(/[&;?]/).some((field) => isMethod(field.split('=', 1)[0] ?? ''));
}

/** Returns what finds a method in the pieces of a form; undefined for a body that is none. */
export function formReader(rawHeaders: readonly string[]): ((chunk: Buffer) => boolean) | undefined {
  const types = valuesOf(rawHeaders, 'content-type').join();
  // Some servers take a body without a type for a form.
  if (types !== '' && !/x-www-form|multipart/i.test(types)) return undefined;
  const [fields, parts] = [new Fields(), new Parts()];
  return (chunk) => {
    const text = chunk.toString('latin1');
    return fields.take(text) || parts.take(text);
  };
}

/** True when a body is compressed, so that no reader understands it. */
export function isCompressed(rawHeaders: readonly string[]): boolean {
  return valuesOf(rawHeaders, 'content-encoding').some((value) => !/^\s*(?:identity)?\s*$/i.test(value));
}

/** `a=b&c=d` */
class Fields {
  /** Undefined while a value passes. */
  #name: string | undefined = '';

  take(text: string): boolean {
    for (const [part = ''] of text.matchAll(/[&;=]|[^&;=]+/g)) {
      if (part === '&' || part === ';') this.#name = '';
      else if (this.#name !== undefined) {
        if (part !== '=') this.#name += part;
        if (part !== '=' && this.#name.length <= longestName) continue;
        if (isMethod(this.#name)) return true;
        this.#name = undefined;
      }
    }
    return false;
  }
}

function isMethod(name: string): boolean {
  const text = decoded(name.slice(0, longestName));
  return ofField.test(text) || (name.length > longestName && /^\s/.test(text));
}

/** Parts with headers, such as `Content-Disposition: form-data; name="a"`. */
class Parts {
  #tail = '';

  take(text: string): boolean {
    const seen = this.#tail + text;
    this.#tail = seen.slice(-longestName);
    return ofPart.test(seen);
  }
}

function decoded(text: string): string {
  return text
    .replace(/\+/g, ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function valuesOf(rawHeaders: readonly string[], wanted: string): string[] {
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase().replaceAll('_', '-') === wanted,
  );
}
