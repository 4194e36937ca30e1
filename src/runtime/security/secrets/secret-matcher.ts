/** Finds secrets in text, also across line breaks, and tells what could be the beginning of one. */
import { formsOf } from './forms.js';
import type { TimeSlices } from './time-slices.js';

const windowLength = 65_536;

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

  /** Adds a value. Nothing removes one: an old value of a secret stays hidden. */
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
    return this.#findIn(flatten(text));
  }

  #findIn({ flat, at }: Flat): Span[] {
    const spans: Span[] = [];
    for (const { text: form, name } of this.#forms) {
      for (let index = flat.indexOf(form); index !== -1; index = flat.indexOf(form, index + 1))
        spans.push({ start: at(index), end: at(index + form.length - 1) + 1, name });
    }
    return merge(spans);
  }

  /** The same in a text of any length, which a cell may have chosen: others get their turn in between. */
  async findInSlices(text: string, slices: TimeSlices): Promise<Span[]> {
    if (text.length <= windowLength) return this.find(text);
    const spans: Span[] = [];
    let before: Flat = { flat: '', at: (index) => index };
    for (let from = 0; from < text.length; from += windowLength) {
      const window = joined(before, flatten(text.slice(from, from + windowLength)), from);
      for (const span of this.#findIn(window)) {
        const last = spans.at(-1);
        if (last === undefined || span.start >= last.end) spans.push(span);
        else if (span.end > last.end) spans[spans.length - 1] = { ...last, end: span.end };
      }
      before = endOf(window, this.#longest - 1);
      if (slices.isOver) await slices.next();
    }
    return spans;
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

  /** Parts of a secret at the very start or end of a piece cut out of a longer text. */
  findAtEdges(text: string, shortest = 4): Span[] {
    const head = flatten(text.slice(0, this.reach));
    const before = Math.max(0, text.length - this.reach);
    const tail = flatten(text.slice(before));
    const spans: Span[] = [];
    for (const { text: form, name } of this.#forms) {
      for (let length = Math.min(form.length - 1, head.flat.length); length >= shortest; length--) {
        if (head.flat.startsWith(form.slice(-length))) {
          spans.push({ start: 0, end: head.at(length - 1) + 1, name });
          break;
        }
      }
      for (let length = Math.min(form.length - 1, tail.flat.length); length >= shortest; length--) {
        if (tail.flat.endsWith(form.slice(0, length))) {
          const start = before + tail.at(tail.flat.length - length);
          spans.push({ start, end: text.length, name });
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

/** A text without line breaks, and the way back to positions in the text. */
interface Flat {
  readonly flat: string;
  at(index: number): number;
}

/**
 * One by one: replacing by an expression takes a hundred times as long where every second character is a line break.
 */
function flatten(text: string): Flat {
  if (!/[\r\n]/.test(text)) return { flat: text, at: (index) => index };
  const units = new Uint16Array(text.length);
  const positions = new Int32Array(text.length);
  let length = 0;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    if (unit === 10 || unit === 13) continue;
    units[length] = unit;
    positions[length++] = place;
  }
  return {
    flat: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'),
    at: (index) => (index < length ? (positions[index] ?? 0) : text.length),
  };
}

function joined(before: Flat, next: Flat, from: number): Flat {
  const { length } = before.flat;
  return {
    flat: before.flat + next.flat,
    at: (index) => (index < length ? before.at(index) : from + next.at(index - length)),
  };
}

function endOf({ flat, at }: Flat, most: number): Flat {
  const start = Math.max(0, flat.length - most);
  const positions = Array.from({ length: flat.length - start }, (_, index) => at(start + index));
  return { flat: flat.slice(start), at: (index) => positions[index] ?? 0 };
}
