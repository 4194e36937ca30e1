/** Finds secrets in text, also across line breaks, and tells what could be the beginning of one. */
import { formsOf, withoutLineBreaks } from './forms.js';

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

interface Form {
  readonly text: string;
  readonly name: string;
}

export class Matcher {
  #forms: Form[] = [];
  #firsts = new Set<string>();
  #longest = 0;

  /** Values are added and never taken away: an old value of a secret stays hidden. */
  add(name: string, value: string): void {
    for (const text of formsOf(value)) {
      if (this.#forms.some((form) => form.text === text)) continue;
      this.#forms.push({ name, text });
      this.#firsts.add(text[0] ?? '');
      this.#longest = Math.max(this.#longest, text.length);
    }
  }

  get empty(): boolean {
    return this.#forms.length === 0;
  }

  /** The most characters that a secret takes, with the line breaks that programs put into it. */
  get reach(): number {
    return this.#longest === 0 ? 0 : this.#longest * 2 + 64;
  }

  /** Where secrets are, in order and without overlap. */
  find(text: string): Span[] {
    const { flat, at } = flatten(text);
    const spans: Span[] = [];
    for (const { text: form, name } of this.#forms) {
      for (let index = flat.indexOf(form); index !== -1; index = flat.indexOf(form, index + 1))
        spans.push({ start: at(index), end: at(index + form.length - 1) + 1, name });
    }
    return merge(spans);
  }

  /** How much of the end of the text could be the beginning of a secret. */
  held(text: string): number {
    const tail = text.slice(-this.reach);
    const { flat, at } = flatten(tail);
    for (let start = Math.max(0, flat.length - this.#longest + 1); start < flat.length; start++) {
      if (!this.#firsts.has(flat[start] ?? '')) continue;
      const end = flat.slice(start);
      if (this.#forms.some((form) => form.text.length > end.length && form.text.startsWith(end)))
        return tail.length - at(start);
    }
    return 0;
  }

  /** Parts of a secret that stand at the very start or end of a piece cut out of a longer text. */
  findAtEdges(text: string, shortest = 4): Span[] {
    const { flat, at } = flatten(text);
    const spans: Span[] = [];
    for (const { text: form, name } of this.#forms) {
      const most = Math.min(form.length - 1, flat.length);
      for (let length = most; length >= shortest; length--) {
        if (flat.startsWith(form.slice(-length))) {
          spans.push({ start: 0, end: at(length - 1) + 1, name });
          break;
        }
      }
      for (let length = most; length >= shortest; length--) {
        if (flat.endsWith(form.slice(0, length))) {
          spans.push({ start: at(flat.length - length), end: text.length, name });
          break;
        }
      }
    }
    return merge(spans);
  }
}

export function merge(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((left, right) => left.start - right.start || right.end - left.end);
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && span.start < last.end)
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, span.end) };
    else merged.push(span);
  }
  return merged;
}

/** The text without line breaks, and the way back to positions in the text. */
function flatten(text: string): { flat: string; at: (index: number) => number } {
  const flat = withoutLineBreaks(text);
  if (flat.length === text.length) return { flat, at: (index) => index };
  let positions: Int32Array | undefined;
  return {
    flat,
    at(index) {
      if (positions === undefined) {
        positions = new Int32Array(flat.length);
        let next = 0;
        for (let place = 0; place < text.length; place++) {
          const code = text.charCodeAt(place);
          if (code !== 10 && code !== 13) positions[next++] = place;
        }
      }
      return positions[index] ?? text.length;
    },
  };
}
