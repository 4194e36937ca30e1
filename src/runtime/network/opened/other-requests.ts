/**
 * The usual ways to have a server take a request for another than its first line says. Frameworks take the method of a
 * request from a header or from a field, and its path from a header.
 */

/** Servers that make variables of headers do not tell `-` from `_`. */
const ofMethod = /^x[-_](?:http[-_])?method(?:[-_]override)?$/i;
const ofPath = /^x[-_](?:original|rewrite|override)[-_]ur[il]$/i;

/** The field `_method`, in every spelling that PHP and Ruby take for it. */
const ofField = /^\s*[_.]method(?:[\0[]|$)/i;
/** The same for the name of a part, in a head whose escapes, quotes and spaces are evened out. Some take its id for its name. */
const ofPart =
  /(?:name ?(?:= ?|\* ?= ?(?:[^ ;]{0,128} ){0,2})|content-id ?: ?<? ?)[_.]method[ ;[>]|(?<![\w-])name ?\* ?\d{1,4} ?\*? ?=/i;
/** Of a head; longer than what the expression takes, which has no end otherwise. */
const longestMatch = 512;
/** A body of one type that is no form. */
const aType = /^\s*[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(?:;|$)/;

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

/** Returns what finds a method in the pieces of a form; undefined for a body that is none. Takes the headers that are sent. */
export function formReader(rawHeaders: readonly string[]): ((chunk: Buffer) => boolean) | undefined {
  const types = valuesOf(rawHeaders, 'content-type');
  const [type = ''] = types;
  const isNamed = rawHeaders.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  // Some servers take a body without a type for a form, and drop headers with `_`.
  if (types.length === 1 && isNamed && aType.test(type) && !/x-www-form|multipart/i.test(type))
    return undefined;
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
    const seen = withoutPercents(this.#tail + text)
      .replaceAll('\\', '')
      .replace(/[\s"'\0]+/g, ' ');
    this.#tail = seen.slice(-longestMatch);
    return ofPart.test(seen);
  }
}

function decoded(text: string): string {
  return withoutPercents(text.replace(/\+/g, ' '));
}

function withoutPercents(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function valuesOf(rawHeaders: readonly string[], wanted: string): string[] {
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase().replaceAll('_', '-') === wanted,
  );
}
