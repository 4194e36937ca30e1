/**
 * The outputs of a code cell, in order and within bounds: the beginning, the most recent part, and a gap between
 * them.
 */
import type { KeptOutput } from '../plugin.js';
import type { CodeOutput } from './jupyter-actions.js';

export interface OutputBudget {
  readonly textBytes: number;
  readonly mediaBytes: number;
}

/** Keep this many outputs at each end, however small they are. */
const mostEntries = 500;

/** A display has one of a few forms; no reader chooses between more. */
const mostMediaTypes = 32;

/** Keep this many lines of a traceback. */
const mostLines = 1000;

type Shown = Extract<CodeOutput, { type: 'result' | 'display' }>;

interface Entry {
  output: CodeOutput;
  bytes: number;
}

interface ShownEntry extends Entry {
  output: Shown;
  mediaBytes: number;
  displayId?: string | undefined;
}

export class Outputs {
  readonly #budget: OutputBudget;
  readonly #open: () => KeptOutput;
  #kept: KeptOutput | undefined;
  #head: Entry[] = [];
  #headBytes = 0;
  #tail: Entry[] = [];
  #tailBytes = 0;
  #gapBytes = 0;
  #mediaBytes = 0;
  #truncated = false;
  #failed = false;
  /** A request to clear sets it and waits for the next output. */
  #clearNext = false;
  readonly #displays = new Map<string, ShownEntry>();

  constructor(budget: OutputBudget, open: () => KeptOutput) {
    this.#budget = budget;
    this.#open = open;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  /** The handle of the whole output, once the observation has no room for it. */
  get keptId(): string | undefined {
    return this.#gapBytes > 0 ? this.#kept?.id : undefined;
  }

  stream(name: 'stdout' | 'stderr', text: string): void {
    this.#kept ??= this.#open();
    for (const piece of encode(text)) this.#kept.append(name, piece);
    this.#beforeNext();
    const half = Math.floor(this.#budget.textBytes / 2);
    const headRoom = this.#tail.length === 0 ? cutBefore(text, Math.max(0, half - this.#headBytes)) : 0;
    // Only the ends of a long text can stay, so skip the middle.
    const end = cutBefore(text, text.length - half);
    const long = end > headRoom;
    for (const piece of pieces(long ? text.slice(0, headRoom) : text, half)) this.#addText(name, piece);
    if (!long) return;
    this.#drop(Buffer.byteLength(text.slice(headRoom, end)));
    for (const piece of pieces(text.slice(end), half)) this.#addText(name, piece);
  }

  /** Returns the part that it keeps. */
  show(shown: Shown, id?: string): Shown {
    this.#beforeNext();
    const entry: ShownEntry = { ...this.#measure(shown, this.#budget.textBytes / 2), displayId: id };
    if (id !== undefined) this.#displays.set(id, entry);
    this.#add(entry);
    return entry.output;
  }

  /** Replaces the content of a display. Returns the part that it keeps, if that display still exists. */
  update(shown: Shown, id: string): Shown | undefined {
    const entry = this.#displays.get(id);
    if (entry === undefined) return undefined;
    this.#mediaBytes -= entry.mediaBytes;
    const inHead = this.#head.includes(entry);
    const others = (inHead ? this.#headBytes : this.#tailBytes) - entry.bytes;
    const { output, mediaBytes, bytes } = this.#measure(
      shown,
      Math.max(0, this.#budget.textBytes / 2 - others),
    );
    Object.assign(entry, { output, mediaBytes, bytes });
    if (inHead) this.#headBytes = others + bytes;
    else this.#tailBytes = others + bytes;
    return output;
  }

  error(name: string, message: string, traceback: readonly string[]): void {
    this.#beforeNext();
    const limit = this.#budget.textBytes;
    const output = {
      type: 'error' as const,
      name: name.slice(0, 256),
      message: clip(message, limit / 2),
      traceback: clipLines(traceback, limit),
    };
    this.#truncated ||= output.message !== message || output.traceback.length !== traceback.length;
    // An error is worth more than the output before it, so one gets its own budget.
    const bytes = this.#failed ? Buffer.byteLength(output.message + output.traceback.join('')) : 0;
    this.#failed = true;
    this.#add({ output, bytes });
  }

  /** Something came that was too large to keep. */
  omit(bytes: number): void {
    this.#add({ output: { type: 'gap', omittedBytes: bytes }, bytes: 0 });
    this.#truncated = true;
  }

  clear(wait: boolean): void {
    if (wait) this.#clearNext = true;
    else this.#reset();
  }

  list(): CodeOutput[] {
    this.#kept?.end();
    const gap: CodeOutput[] = this.#gapBytes > 0 ? [{ type: 'gap', omittedBytes: this.#gapBytes }] : [];
    const outputs = [
      ...this.#head.map(({ output }) => output),
      ...gap,
      ...this.#tail.map(({ output }) => output),
    ];
    return joinStreams(outputs);
  }

  #beforeNext(): void {
    if (this.#clearNext) this.#reset();
  }

  #reset(): void {
    this.#clearNext = false;
    this.#head = [];
    this.#tail = [];
    this.#displays.clear();
    this.#headBytes = 0;
    this.#tailBytes = 0;
    this.#gapBytes = 0;
    this.#mediaBytes = 0;
  }

  #addText(name: 'stdout' | 'stderr', text: string): void {
    const bytes = Buffer.byteLength(text);
    const last = (this.#tail.length > 0 ? this.#tail : this.#head).at(-1);
    const inHead = this.#gapBytes === 0 && this.#headBytes + bytes <= this.#budget.textBytes / 2;
    const fits = this.#tail.length > 0 || inHead;
    const joins = last?.output.type === 'stream' && last.output.name === name && fits;
    // We could not drop a long entry piece by piece, so build the tail from short ones.
    if (joins && (this.#tail.length === 0 || last.bytes + bytes < 4096)) {
      last.output = { type: 'stream', name, text: (last.output as { text: string }).text + text };
      last.bytes += bytes;
      if (this.#tail.length > 0) this.#tailBytes += bytes;
      else this.#headBytes += bytes;
      this.#trim();
      return;
    }
    this.#add({ output: { type: 'stream', name, text }, bytes });
  }

  #add(entry: Entry): void {
    const half = this.#budget.textBytes / 2;
    const toHead =
      this.#tail.length === 0 &&
      this.#gapBytes === 0 &&
      this.#headBytes + entry.bytes <= half &&
      this.#head.length < mostEntries;
    if (toHead) {
      this.#head.push(entry);
      this.#headBytes += entry.bytes;
      return;
    }
    this.#tail.push(entry);
    this.#tailBytes += entry.bytes;
    this.#trim();
  }

  /** Empties the tail, and counts what comes between the head and what follows. */
  #drop(bytes: number): void {
    this.#gapBytes += bytes + this.#tailBytes;
    for (const entry of this.#tail) this.#forget(entry);
    this.#tail = [];
    this.#tailBytes = 0;
    this.#truncated = true;
  }

  #trim(): void {
    while (this.#tailBytes > this.#budget.textBytes / 2 || this.#tail.length > mostEntries) {
      const dropped = this.#tail.shift();
      if (dropped === undefined) return;
      this.#forget(dropped);
      this.#tailBytes -= dropped.bytes;
      this.#gapBytes += Math.max(dropped.bytes, 1);
      this.#truncated = true;
    }
  }

  /** A display that the observation no longer shows gets no updates. */
  #forget(entry: Entry & { displayId?: string | undefined }): void {
    const { displayId } = entry;
    if (displayId !== undefined && this.#displays.get(displayId) === entry) this.#displays.delete(displayId);
  }

  /** Omits the media that exceed the budget. */
  #measure({ type, data }: Shown, textRoom: number): ShownEntry {
    const kept: Record<string, unknown> = {};
    const omitted: Record<string, number> = {};
    const before = this.#mediaBytes;
    let bytes = 0;
    for (const [mediaType, value] of Object.entries(data).slice(0, mostMediaTypes)) {
      const size = Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
      const isText = mediaType === 'text/plain';
      const room = isText ? textRoom : this.#budget.mediaBytes - this.#mediaBytes;
      if (size > room) {
        omitted[mediaType] = size;
        if (isText) kept[mediaType] = clip(String(value), room);
      } else {
        kept[mediaType] = value;
        if (!isText) this.#mediaBytes += size;
      }
      if (isText) bytes += Math.min(size, room);
    }
    const isWhole = Object.keys(omitted).length === 0;
    this.#truncated ||= !isWhole;
    const output = { type, data: kept, ...(isWhole ? {} : { omitted }) };
    return { output, bytes, mediaBytes: this.#mediaBytes - before };
  }
}

const encoder = new TextEncoder();
const encoded = Buffer.allocUnsafeSlow(64 * 1024);

/** The bytes of a text, piece by piece in one buffer: a caller that keeps a piece copies it. */
function* encode(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at, at + encoded.length), encoded);
    yield encoded.subarray(0, written);
    at += read;
  }
}

function joinStreams(outputs: readonly CodeOutput[]): CodeOutput[] {
  const joined: CodeOutput[] = [];
  for (const output of outputs) {
    const last = joined.at(-1);
    if (output.type === 'stream' && last?.type === 'stream' && last.name === output.name)
      joined[joined.length - 1] = { ...last, text: last.text + output.text };
    else joined.push(output);
  }
  return joined;
}

function* pieces(text: string, size: number): Generator<string> {
  const length = Math.max(64, Math.min(2048, Math.floor(size / 4)));
  for (let at = 0; at < text.length; ) {
    const end = cutBefore(text, at + length);
    yield text.slice(at, end);
    at = end;
  }
}

function clip(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return `${text.slice(0, cutBefore(text, Math.floor(bytes / 4)))}…`;
}

/** The last lines say what happened. */
function clipLines(lines: readonly string[], bytes: number): string[] {
  let first = lines.length;
  for (let room = bytes; first > 0 && lines.length - first < mostLines; first--) {
    room -= Buffer.byteLength(lines[first - 1] as string);
    if (room < 0) break;
  }
  return lines.slice(first);
}

/** The last place up to this one that is not between the two halves of a character. */
function cutBefore(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(at, text.length);
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at;
}
