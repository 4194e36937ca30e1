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
  /** For the progress of one action. */
  open(): ProgressMask;
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
    text: (given) => text(given),
    value: <Value>(given: Value) => (matcher.empty ? given : (value(given, false) as Value)),
    observation: <Value>(given: Value) => (matcher.empty ? given : (value(given, true) as Value)),
    error: (given) => (matcher.empty ? given : (value(given, false) as ErrorBody)),
    open: () => openProgress(matcher, (given) => value(given, false) as Progress),
    bytes,
  };
}

function openProgress(matcher: Matcher, whole: (progress: Progress) => Progress): ProgressMask {
  type Stream = { masker: TextMasker; raw: string; sequence: number };
  const streams = new Map<string, Stream>();
  return {
    progress(progress) {
      if (progress.type !== 'output-delta') return whole(progress);
      const stream = streams.get(progress.stream) ?? {
        masker: createMasker(matcher, ({ name }) => placeholder(name)),
        raw: '',
        sequence: progress.sequence,
      };
      streams.set(progress.stream, stream);
      if (stream.raw === '') stream.sequence = progress.sequence;
      stream.raw += progress.text;
      const { sequence } = stream;
      const shown = stream.masker.write(progress.text);
      stream.sequence += Buffer.byteLength(stream.raw.slice(0, shown.consumed));
      stream.raw = stream.raw.slice(shown.consumed);
      return shown.consumed === 0 ? undefined : { ...progress, text: shown.text, sequence };
    },
    end() {
      return [...streams].flatMap(([stream, { masker, sequence }]) => {
        const text = masker.end();
        return text === ''
          ? []
          : [{ type: 'output-delta' as const, stream: stream as 'stdout', text, sequence }];
      });
    },
  };
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
