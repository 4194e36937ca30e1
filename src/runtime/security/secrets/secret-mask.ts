/** Hides secrets in everything that a runtime hands out: texts, values, progress and bytes. */
import type { ErrorBody, Progress } from '../../../protocol/index.js';
import { createMasker, type TextMasker } from './masker.js';
import { type Matcher, merge, type Span } from './secret-matcher.js';
import { TimeSlices } from './time-slices.js';

/** Replaces the values of secrets in what leaves a cell. */
export interface SecretMask {
  /** One text that is complete in itself. */
  text(text: string): string;
  /** Masks every text in a value, at any depth, including base64 fields. */
  value<Value>(value: Value): Value;
  observation<Value>(observation: Value): Promise<Value>;
  error(error: ErrorBody): Promise<ErrorBody>;
  /** For the progress of one action. `from`: byte positions of streams before which it shows nothing. */
  open(from?: Readonly<Record<string, number>>): ProgressMask;
  /** Bytes before or after a piece that can be part of a secret which the piece cuts. */
  readonly reach: number;
  /** A part of some bytes, masked by the secrets in all of them. `sameLength`: one mark for each hidden byte. */
  within(bytes: Buffer, start: number, end: number, sameLength: boolean): Promise<Buffer>;
  /** For one stream of bytes; lengths stay as they are. */
  bytes(): { write(chunk: Uint8Array): Uint8Array; end(): Uint8Array };
}

interface ProgressMask {
  /** Nothing when all of it may belong to a secret. */
  progress(progress: Progress): Progress | undefined;
  end(): Progress[];
}

/** Fields that can hold a piece of a longer text, which may cut a secret at its edges. */
const pieces = new Set(['output', 'data', 'stdout', 'stderr', 'content']);
const cutMark = /\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/g;

/** It searches values by recursion and no deeper than this, so it shows nothing below. */
const deepest = 600;
const tooDeep = `[left out: more than ${deepest} levels]`;

export function createMask(matcher: Matcher): SecretMask {
  const text = (given: string, spans: readonly Span[] = matcher.find(given)) => replaceSpans(given, spans);
  const value = (given: unknown, level = 0): unknown => {
    if (typeof given === 'string') return text(given);
    if (typeof given !== 'object' || given === null) return given;
    if (level === deepest) return tooDeep;
    if (Array.isArray(given)) return given.map((entry) => value(entry, level + 1));
    const encoded = isEncoded(given);
    return Object.fromEntries(
      Object.entries(given).map(([key, entry]) => {
        if (typeof entry === 'string' && encoded && pieces.has(key)) return [key, maskBase64(entry, bytes)];
        return [text(key), value(entry, level + 1)];
      }),
    );
  };
  const bytes = () => {
    const masker = createMasker(matcher, (_, found) => '*'.repeat(found.length));
    // One character for each byte: text beyond ASCII matches through its own bytes.
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
    value: <Value>(given: Value) => (matcher.empty ? given : (value(given) as Value)),
    observation: async <Value>(given: Value) =>
      matcher.empty ? given : ((await maskObserved(given, { matcher, slices: new TimeSlices() })) as Value),
    error: async (given) =>
      matcher.empty
        ? given
        : ((await maskObserved(given, { matcher, slices: new TimeSlices() })) as ErrorBody),
    open: (from = {}) => openProgress(matcher, (given) => value(given) as Progress, from),
    within: (given, start, end, sameLength) => maskWithin(matcher, given, { start, end, sameLength }),
    bytes,
  };
}

interface Work {
  readonly matcher: Matcher;
  readonly slices: TimeSlices;
}

/** A cell chooses how much there is to search, so yield to other work meanwhile. */
async function maskObserved(given: unknown, work: Work, level = 0): Promise<unknown> {
  const { matcher, slices } = work;
  if (slices.isOver) await slices.next();
  if (typeof given === 'string') return maskPart(given, [], work);
  if (typeof given !== 'object' || given === null) return given;
  if (level === deepest) return tooDeep;
  if (Array.isArray(given)) {
    const shown: unknown[] = [];
    for (const entry of given) shown.push(await maskObserved(entry, work, level + 1));
    return shown;
  }
  const encoded = isEncoded(given);
  const shown: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(given)) {
    if (typeof entry !== 'string' || !pieces.has(key))
      shown.push([replaceSpans(key, matcher.find(key)), await maskObserved(entry, work, level + 1)]);
    else if (encoded) shown.push([key, await maskEncoded(entry, work)]);
    else shown.push([key, await maskPiece(entry, work)]);
  }
  return Object.fromEntries(shown);
}

/** A piece of a longer text, or its head and tail: either can end within a secret. */
async function maskPiece(given: string, work: Work): Promise<string> {
  const shown: string[] = [];
  let position = 0;
  for (const mark of given.matchAll(cutMark)) {
    const part = given.slice(position, mark.index);
    shown.push(await maskPart(part, work.matcher.findAtEdges(part), work), mark[0]);
    position = mark.index + mark[0].length;
    if (work.slices.isOver) await work.slices.next();
  }
  const rest = given.slice(position);
  shown.push(await maskPart(rest, work.matcher.findAtEdges(rest), work));
  return shown.join('');
}

async function maskPart(given: string, atEdges: readonly Span[], { matcher, slices }: Work): Promise<string> {
  const found = await matcher.findInSlices(given, slices);
  const spans = atEdges.length === 0 ? found : merge([...found, ...atEdges]);
  if (spans.length <= mostAtOnce) return replaceSpans(given, spans);
  const shown: string[] = [];
  let position = 0;
  for (let index = 0; index < spans.length; index += mostAtOnce) {
    const group = spans.slice(index, index + mostAtOnce);
    const end = spans[index + mostAtOnce]?.start ?? given.length;
    shown.push(replaceSpans(given.slice(position, end), group, position));
    position = end;
    if (slices.isOver) await slices.next();
  }
  return shown.join('');
}

const mostAtOnce = 4096;

async function maskEncoded(given: string, { matcher, slices }: Work): Promise<string> {
  const bytes = Buffer.from(given, 'base64');
  for (const { start, end } of await matcher.findInSlices(bytes.toString('latin1'), slices))
    bytes.fill('*', start, end);
  return bytes.toString('base64');
}

function isEncoded(given: object): boolean {
  return 'encoding' in given && given.encoding === 'base64';
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
      // Handle the text before the start first, by itself: it only shows how a secret begins.
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

/** What a reader gets from a position of a stream on. A mark that begins before it stays whole. */
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

async function maskWithin(
  matcher: Matcher,
  bytes: Buffer,
  { start, end, sameLength }: { start: number; end: number; sameLength: boolean },
): Promise<Buffer> {
  const text = bytes.toString('latin1');
  const spans = matcher.empty
    ? []
    : merge([...(await matcher.findInSlices(text, new TimeSlices())), ...matcher.findAtEdges(text)]);
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

/** `offset`: where the text begins in the text of the spans. */
function replaceSpans(text: string, spans: readonly Span[], offset = 0): string {
  if (spans.length === 0) return text;
  let shown = '';
  let position = 0;
  for (const { start, end, name } of spans) {
    shown += text.slice(position, start - offset) + placeholder(name);
    position = end - offset;
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
