/** Finds a request of HTTP in the first line of a stream, as the most lenient of servers would read it. */

/** What servers take for space between words; Python takes the most. */
const space = '[\\s\\x1c-\\x1f\\x85]';
/** Servers that are strict about versions are not about methods and targets. */
const endsInVersion = new RegExp(`(?:^|${space})HTTP/[^\\s\\x1c-\\x1f\\x85]*${space}*$`, 'i');
/** Others take any version, or none, after a method and a target. A load balancer's line in front hides what follows. */
const beginsLikeRequest = new RegExp(`^${space}*(?:[a-z_-]+${space}+(?:/|https?:)|PROXY${space})`, 'i');
/** The same of a load balancer, in bytes. */
const proxied = /^\r\n\r\n\0\r\n/;
/** A line that never ends could become a request, unless it has bytes that no server takes in one. */
const beginsLikeMethod = new RegExp(`^[!#-'*+.^-z|~A-Z0-9-]*(?:${space}|$)`);
const bytesOfNoRequest = /[\0-\x08\x0e-\x1b\x7f]/;

const partOfLine = /^[\r\n]*(?:[A-Z][A-Z-]{0,19}(?: [^\s]*(?: [HTP/1.0]{0,8}\r?)?)?)?$/;

/** No server takes a longer line with such methods and targets as an endless one may have. */
export const longestLine = 65_536;

/** True when a server could take the first line of these bytes as a request. */
export function looksLikeHttp(bytes: Buffer): boolean {
  return new FirstLine().take(bytes) === 'request';
}

/** True when the line is not whole yet and is so far one that usual clients send: the rest is worth waiting for. */
export function mayBecomeHttp(bytes: Buffer): boolean {
  return bytes.length > 0 && partOfLine.test(bytes.toString('latin1', 0, longestLine));
}

/** Reads a stream until its first line is whole. Empty lines in front do not count, because servers skip them. */
export class FirstLine {
  #verdict: 'request' | 'other' | undefined;
  #line = '';
  /** Where what follows the last end of a line begins: some servers take `\r` alone for one. */
  #begin = 0;
  #isEmpty = true;

  /** Undefined until it can tell. */
  take(chunk: Buffer): 'request' | 'other' | undefined {
    if (this.#verdict !== undefined) return this.#verdict;
    const ends = /[\r\n]/g;
    ends.lastIndex = this.#line.length;
    this.#line += chunk.toString('latin1', 0, longestLine);
    for (let end = ends.exec(this.#line); end !== null; end = ends.exec(this.#line)) {
      const part = this.#line.slice(this.#begin, end.index);
      this.#begin = end.index + 1;
      if (endsInVersion.test(part) || beginsLikeRequest.test(part)) return this.#end('request');
      this.#isEmpty &&= part.trim() === '';
      if (end[0] === '\n' && !this.#isEmpty) return this.#end(proxied.test(this.#line) ? 'request' : 'other');
    }
    if (this.#line.length < longestLine) return undefined;
    const isText = beginsLikeMethod.test(this.#line) && !bytesOfNoRequest.test(this.#line);
    return this.#end(isText ? 'request' : 'other');
  }

  #end(verdict: 'request' | 'other'): 'request' | 'other' {
    this.#line = '';
    this.#verdict = verdict;
    return verdict;
  }
}
