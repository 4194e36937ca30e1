/** Brings what a command prints to standard output: safe to show, and no faster than it is taken. */
import { once } from 'node:events';
import { ProgressFolder } from './progress-folder.js';
import { Sanitizer } from './sanitize.js';

/** In characters. */
const tailLength = 4096;

export interface CommandOutput {
  /** A returned promise holds the program back until the reader has caught up. */
  write(chunk: { text: string }): void | Promise<void>;
  end(): void;
  /** The last of what was written. */
  tail(): string;
}

/** Calls `onBroken` once when the reader has gone away. */
export function openOutput(onBroken: () => void, stream: NodeJS.WriteStream = process.stdout): CommandOutput {
  const sanitizer = new Sanitizer(stream.isTTY ? 'terminal' : 'plain');
  const folder = stream.isTTY ? undefined : new ProgressFolder();
  let broken = false;
  let tail = '';
  stream.once('error', () => {
    broken = true;
    onBroken();
  });
  return {
    write({ text }) {
      const clean = sanitizer.write(text);
      const safe = folder?.write(clean) ?? clean;
      tail = (tail + clean).slice(-tailLength);
      if (broken || safe === '' || stream.write(safe)) return;
      return once(stream, 'drain').then(
        () => {},
        () => {},
      );
    },
    end() {
      const last = sanitizer.end();
      const rest = folder === undefined ? last : folder.write(last) + folder.end();
      if (!broken && rest !== '') stream.write(rest);
    },
    tail: () => tail,
  };
}
