/** Writes a command's output to standard output: safe to show, and no faster than the reader takes it. */
import { once } from 'node:events';
import { ProgressFolder } from './progress-folder.js';
import { Sanitizer } from './sanitize.js';
import { untilFree } from './terminal-hold.js';

/** In characters. */
const tailLength = 4096;

export interface CommandOutput {
  /** A returned promise holds the program back until the reader has caught up. */
  write(chunk: { text: string }): void | Promise<void>;
  end(): void;
  /** The end of the written text. */
  tail(): string;
}

/** Calls `onBroken` once when the reader has gone away. */
export function openOutput(onBroken: () => void, stream: NodeJS.WriteStream = process.stdout): CommandOutput {
  const sanitizer = new Sanitizer(stream.isTTY ? 'terminal' : 'plain');
  const folder = stream.isTTY ? undefined : new ProgressFolder();
  let broken = false;
  let tail = '';
  let waiting = '';
  /** Show nothing while a question is open on the same terminal. */
  const show = (text: string): void | Promise<void> => {
    const free = stream.isTTY ? untilFree() : undefined;
    if (free !== undefined) {
      waiting += text;
      return free.then(() => show(''));
    }
    const ready = waiting + text;
    waiting = '';
    if (broken || ready === '' || stream.write(ready)) return;
    return once(stream, 'drain').then(
      () => {},
      () => {},
    );
  };
  stream.once('error', () => {
    broken = true;
    onBroken();
  });
  return {
    write({ text }) {
      const clean = sanitizer.write(text);
      const safe = folder?.write(clean) ?? clean;
      tail = (tail + clean).slice(-tailLength);
      return show(safe);
    },
    end() {
      const last = sanitizer.end();
      const rest = folder === undefined ? last : folder.write(last) + folder.end();
      void show(rest);
    },
    tail: () => tail,
  };
}
