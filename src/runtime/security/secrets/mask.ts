/** Hides secrets in all that a runtime gives out: texts, values, progress and bytes. */
import type { ErrorBody, Progress } from '../../../protocol/index.js';
import { createMasker, type TextMasker } from './masker.js';
import { type Matcher, merge, type Span } from './matcher.js';

export interface SecretMask {
  /** One text that is complete in itself. */
  text(text: string): string;
  /** Every text in a value, at any depth; base64 fields are looked into. */
  value<Value>(value: Value): Value;
  observation<Value>(observation: Value): Value;
  error(error: ErrorBody): ErrorBody;
  /** For the progress of one action. `from`: byte positions of streams before which nothing is shown. */
  open(from?: Readonly<Record<string, number>>): ProgressMask;
  /** Bytes before or after a piece that can be part of a secret which the piece cuts. */
  readonly reach: number;
  /** A part of some bytes, with what is hidden in the whole of them. `sameLength`: one mark for each hidden byte. */
  within(bytes: Buffer, start: number, end: number, sameLength: boolean): Buffer;
  /** For one stream of bytes; lengths stay as they are. */
  bytes(): { write(chunk: Uint8Array): Uint8Array; end(): Uint8Array };
}

interface ProgressMask {
  /** Nothing when all of it may belong to a secret. */
  progress(progress: Progress): Progress | undefined;
  end(): Progress[];
}

/** Fields that may hold a piece of a longer text, so that a secret can be cut at their edges. */
const pieces = new Set(['output', 'data', 'stdout', 'stderr', 'content']);
const cutMark = /\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/;

export function createMask(matcher: Matcher): SecretMask {
  const text = (given: string, spans: readonly Span[] = matcher.find(given)) => replaceSpans(given, spans);
  const piece = (given: string): string =>
    given.split(cutMark).reduce<{ done: string; rest: string }>(
      ({ done, rest }, part) => {
        const mark = cutMark.exec(rest.slice(part.length))?.[0] ?? '';
        const spans = merge([...matcher.find(part), ...matcher.findAtEdges(part)]);
        return { done: done + text(part, spans) + mark, rest: rest.slice(part.length + mark.length) };
      },
      { done: '', rest: given },
    ).done;
  const value = (given: unknown, edges: boolean): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map((entry) => value(entry, edges));
    if (typeof given !== 'object' || given === null) return given;
    const encoded = 'encoding' in given && given.encoding === 'base64';
    return Object.fromEntries(
      Object.entries(given).map(([key, entry]) => {
        if (typeof entry !== 'string') return [text(key), value(entry, edges)];
        if (encoded && pieces.has(key)) return [key, maskBase64(entry, bytes)];
        return [text(key), edges && pieces.has(key) ? piece(entry) : text(entry)];
      }),
    );
  };
  const bytes = () => {
    const masker = createMasker(matcher, (_, found) => '*'.repeat(found.length));
    // One character for each byte: forms of text beyond ASCII are found through their own bytes.
    return {
      write: (chunk: Uint8Array) =>
        Buffer.from(masker.write(Buffer.from(chunk).toString('latin1')).text, 'latin1'),
      end: () => Buffer.from(masker.end(), 'latin1'),
    };
  };
  return {
    get reach() {
      return matcher.reach;
    },
    text: (given) => text(given),
    value: <Value>(given: Value) => (matcher.empty ? given : (value(given, false) as Value)),
    observation: <Value>(given: Value) => (matcher.empty ? given : (value(given, true) as Value)),
    error: (given) => (matcher.empty ? given : (value(given, false) as ErrorBody)),
    open: (from = {}) => openProgress(matcher, (given) => value(given, false) as Progress, from),
    within: (given, start, end, sameLength) => maskWithin(matcher, given, { start, end, sameLength }),
    bytes,
  };
}

function openProgress(
  matcher: Matcher,
  whole: (progress: Progress) => Progress,
  from: Readonly<Record<string, number>>,
): ProgressMask {
  type Stream = { masker: TextMasker; raw: string; sequence: number };
  const streams = new Map<string, Stream>();
  const show = (stream: Stream, text: string, start: number) => {
    stream.raw += text;
    const { sequence } = stream;
    const shown = stream.masker.write(text);
    const raw = stream.raw.slice(0, shown.consumed);
    stream.sequence += Buffer.byteLength(raw);
    stream.raw = stream.raw.slice(shown.consumed);
    return cutBefore(start, { raw, text: shown.text, sequence });
  };
  return {
    progress(progress) {
      if (progress.type !== 'output-delta') return whole(progress);
      const { stream: name, text, sequence } = progress;
      const stream = streams.get(name) ?? {
        masker: createMasker(matcher, (found) => placeholder(found.name)),
        raw: '',
        sequence,
      };
      streams.set(name, stream);
      if (stream.raw === '') stream.sequence = sequence;
      const start = from[name] ?? 0;
      // What only shows how a secret begins goes first, by itself.
      const before = sequence >= start ? '' : headOf(text, start - sequence);
      if (before !== '') show(stream, before, start);
      const wanted = show(stream, text.slice(before.length), start);
      return wanted === undefined ? undefined : { ...progress, ...wanted };
    },
    end() {
      return [...streams].flatMap(([stream, { masker, raw, sequence }]) => {
        const wanted = cutBefore(from[stream] ?? 0, { raw, text: masker.end(), sequence });
        return wanted === undefined
          ? []
          : [{ type: 'output-delta' as const, stream: stream as 'stdout', ...wanted }];
      });
    },
  };
}

/** What a reader gets who asked for a stream from a position on. A mark that begins before it stays whole. */
function cutBefore(
  from: number,
  { raw, text, sequence }: { raw: string; text: string; sequence: number },
): { text: string; sequence: number } | undefined {
  if (text === '' || sequence + Buffer.byteLength(raw) <= from) return undefined;
  if (sequence >= from) return { text, sequence };
  const before = headOf(raw, from - sequence);
  return text.startsWith(before) ? { text: text.slice(before.length), sequence: from } : { text, sequence };
}

function headOf(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString('utf8');
}

function maskWithin(
  matcher: Matcher,
  bytes: Buffer,
  { start, end, sameLength }: { start: number; end: number; sameLength: boolean },
): Buffer {
  const text = bytes.toString('latin1');
  const spans = matcher.empty ? [] : merge([...matcher.find(text), ...matcher.findAtEdges(text)]);
  const parts: Buffer[] = [];
  let position = Math.max(0, start);
  for (const span of spans.filter((found) => found.end > start && found.start < end)) {
    const [first, last] = [Math.max(span.start, start), Math.min(span.end, end)];
    const mark = sameLength ? '*'.repeat(last - first) : placeholder(span.name);
    parts.push(bytes.subarray(position, first), Buffer.from(mark));
    position = last;
  }
  parts.push(bytes.subarray(position, Math.max(position, end)));
  return Buffer.concat(parts);
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let shown = '';
  let position = 0;
  for (const { start, end, name } of spans) {
    shown += text.slice(position, start) + placeholder(name);
    position = end;
  }
  return shown + text.slice(position);
}

function placeholder(name: string): string {
  return `[hidden:${name}]`;
}

function maskBase64(
  text: string,
  bytes: () => { write(chunk: Uint8Array): Uint8Array; end(): Uint8Array },
): string {
  const masker = bytes();
  return Buffer.concat([masker.write(Buffer.from(text, 'base64')), masker.end()]).toString('base64');
}
