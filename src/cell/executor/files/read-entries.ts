/**
 * Reads a directory. A cell may put any number of names there, so this reads and sorts them in steps between which a
 * caller can pause, up to a limit.
 */
import { type Dir, opendirSync } from 'node:fs';
import type { Pace } from '../../../base/pace.js';
import type { Directory, Entry } from './directory.js';
import { compareNames } from './paths.js';

/** Most names to keep; of a larger directory it reads a part. */
export const mostNames = 100_000;

/** Read, sorted or merged between two pauses: about a millisecond. */
const stepLength = 2048;

export interface Listing {
  /** Sorted by name. */
  readonly entries: readonly Entry[];
  /** False when there are more than the limit. */
  readonly isComplete: boolean;
}

/** Yields only to let the caller pause, until it is done. */
export function* readEntries(directory: Directory, limit = mostNames): Generator<undefined, Listing> {
  const entries: Entry[] = [];
  const opened = opendirSync(directory.base, { encoding: 'buffer' as never, bufferSize: 512 });
  let isComplete = true;
  try {
    for (let entry = next(opened); entry !== undefined; entry = next(opened)) {
      if (entries.length >= limit) {
        isComplete = false;
        break;
      }
      entries.push(entry);
      if (entries.length % stepLength === 0) yield;
    }
  } finally {
    opened.closeSync();
  }
  return { entries: yield* sorted(entries), isComplete };
}

/** For a caller that only waits. */
export async function listEntries(directory: Directory, pace: Pace): Promise<Listing> {
  const reading = readEntries(directory);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await pace.step();
  }
}

function next(opened: Dir): Entry | undefined {
  const entry = opened.readSync();
  if (entry === null) return undefined;
  const bytes = entry.name as unknown as Buffer;
  const text = bytes.toString();
  const exact = !text.includes('\uFFFD') || Buffer.from(text).equals(bytes);
  return {
    name: exact ? text : bytes,
    text,
    isDirectory: entry.isDirectory(),
    isFile: entry.isFile(),
    isLink: entry.isSymbolicLink(),
  };
}

/** Sorts short runs, and merges them into one. */
function* sorted(entries: Entry[]): Generator<undefined, Entry[]> {
  let runs: Entry[][] = [];
  for (let from = 0; from < entries.length; from += stepLength) {
    runs.push(entries.slice(from, from + stepLength).sort(inOrder));
    if (entries.length > stepLength) yield;
  }
  while (runs.length > 1) {
    const merged: Entry[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(yield* merge(runs[index] as Entry[], runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(left: readonly Entry[], right: readonly Entry[]): Generator<undefined, Entry[]> {
  const merged: Entry[] = [];
  let fromRight = 0;
  for (const entry of left) {
    for (
      let other = right[fromRight];
      other !== undefined && inOrder(other, entry) < 0;
      other = right[fromRight]
    ) {
      merged.push(other);
      fromRight++;
      if (merged.length % stepLength === 0) yield;
    }
    merged.push(entry);
    if (merged.length % stepLength === 0) yield;
  }
  for (; fromRight < right.length; fromRight++) {
    merged.push(right[fromRight] as Entry);
    if (merged.length % stepLength === 0) yield;
  }
  return merged;
}

function inOrder(a: Entry, b: Entry): number {
  return compareNames(a.text, b.text);
}
