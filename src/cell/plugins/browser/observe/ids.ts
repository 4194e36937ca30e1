/**
 * The names of elements that an agent uses. The number is the one that Chromium itself gives to a node for as long as
 * it lives, so we write nothing into the page. Letters in front name its frame.
 */
import { elementType, type PageDocument } from './snapshot.js';

/** Ids of the frames of one page. A frame keeps its letters while it lives. */
export class FrameIds {
  readonly #prefixes = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** The letters in front of the ids of each document, in the order of the documents. */
  assign(documents: readonly PageDocument[]): string[] {
    const prefixes: string[] = documents.map(() => '');
    documents.forEach((document, at) => {
      for (const inner of document.contents.values()) {
        const target = documents[inner];
        // A document comes before the documents of its frames.
        if (target !== undefined && inner > at)
          prefixes[inner] = this.#prefix(target.frameId, prefixes[at] ?? '');
      }
    });
    return prefixes;
  }

  #prefix(frameId: string, parent: string): string {
    const known = this.#prefixes.get(frameId);
    if (known !== undefined) return known;
    const count = this.#counts.get(parent) ?? 0;
    this.#counts.set(parent, count + 1);
    const prefix = parent + letters(count);
    this.#prefixes.set(frameId, prefix);
    return prefix;
  }
}

/** a, b, … z, aA, aB, …: one small letter, so that the letters of nested frames stay distinct. */
export function letters(count: number): string {
  let rest = Math.floor(count / 26);
  let tail = '';
  const last = count % 26;
  if (rest === 0) return String.fromCharCode(97 + last);
  tail = String.fromCharCode(65 + last);
  for (rest--; rest >= 26; rest = Math.floor(rest / 26) - 1)
    tail = String.fromCharCode(65 + (rest % 26)) + tail;
  return String.fromCharCode(97 + rest) + tail;
}

/** Every element of a page by its id, with Chromium's own id for it. */
export function elementIds(
  documents: readonly PageDocument[],
  prefixes: readonly string[],
): Map<string, number> {
  const ids = new Map<string, number>();
  documents.forEach((document, at) => {
    for (let node = 0; node < document.length; node++) {
      if (document.type(node) !== elementType) continue;
      const backendId = document.backendId(node);
      ids.set(`${prefixes[at] ?? ''}${backendId}`, backendId);
    }
  });
  return ids;
}
