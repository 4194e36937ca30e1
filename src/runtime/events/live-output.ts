/** What actions under way print, for those who watch: the newest of it, in memory alone. */
import { setTimeout } from 'node:timers/promises';
import type { ExecuteContext } from '../../protocol/index.js';
import type { OutputLine } from '../../protocol/record-wire.js';

/** What to hold of each action, and what one turn of a watcher takes of all. */
const tailCharacters = 32 * 1024;
const turnCharacters = 256 * 1024;

/** Nobody reads faster, so output comes together in between. */
const restMs = 100;

export class LiveOutput {
  readonly #tails = new Map<number, Tail>();
  readonly #wakers = new Set<() => void>();
  readonly #ended = new AbortController();

  /** Whether anybody wants the output of actions that ask for none themselves. */
  get watched(): boolean {
    return this.#wakers.size > 0;
  }

  /** The same context, whose output also comes here. It never holds the action back. */
  tee(context: ExecuteContext, cause: number): ExecuteContext {
    const { onProgress } = context;
    const tail = new Tail();
    this.#tails.set(cause, tail);
    return {
      ...context,
      onProgress: (progress) => {
        if (progress.type === 'output-delta') {
          tail.add(progress.text);
          for (const wake of this.#wakers) wake();
        }
        return onProgress?.(progress);
      },
    };
  }

  /** The record has its output now. */
  end(cause: number): void {
    this.#tails.delete(cause);
  }

  close(): void {
    this.#ended.abort();
    this.#tails.clear();
  }

  /** The output of actions as it comes, until the signal aborts or the stream closes. A slow reader misses some. */
  async *watch(signal: AbortSignal): AsyncGenerator<readonly OutputLine[]> {
    const over = AbortSignal.any([signal, this.#ended.signal]);
    const seen = new Map<number, number>();
    let wake = () => {};
    const onNews = () => wake();
    this.#wakers.add(onNews);
    over.addEventListener('abort', onNews);
    try {
      while (!over.aborted) {
        const lines = this.#news(seen);
        if (lines.length > 0) {
          yield lines;
          await setTimeout(restMs, undefined, { signal: over }).catch(() => {});
        } else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#wakers.delete(onNews);
      over.removeEventListener('abort', onNews);
    }
  }

  #news(seen: Map<number, number>): OutputLine[] {
    const lines: OutputLine[] = [];
    let left = turnCharacters;
    for (const cause of seen.keys()) if (!this.#tails.has(cause)) seen.delete(cause);
    for (const [cause, tail] of this.#tails) {
      const from = seen.get(cause) ?? 0;
      if (tail.total === from || left <= 0) continue;
      const { text, skipped } = tail.since(from);
      seen.set(cause, tail.total);
      left -= text.length;
      lines.push({ kind: 'output', cause, text, ...(skipped > 0 && { skipped }) });
    }
    return lines;
  }
}

/** The end of a text that grows. */
class Tail {
  #pieces: string[] = [];
  #characters = 0;
  /** Characters of all, also of those that are dropped. */
  total = 0;

  add(text: string): void {
    if (text === '') return;
    const kept = text.length > tailCharacters ? text.slice(-tailCharacters) : text;
    this.#pieces.push(kept);
    this.#characters += kept.length;
    this.total += text.length;
    // Joining seldom keeps the cost of a piece constant.
    if (this.#characters > 2 * tailCharacters || this.#pieces.length > 1024) this.#join();
  }

  since(position: number): { text: string; skipped: number } {
    this.#join();
    const [text = ''] = this.#pieces;
    const begins = this.total - text.length;
    return { text: text.slice(Math.max(0, position - begins)), skipped: Math.max(0, begins - position) };
  }

  #join(): void {
    const text = this.#pieces.join('').slice(-tailCharacters);
    this.#pieces = [text];
    this.#characters = text.length;
  }
}
