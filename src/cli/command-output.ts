/** Brings what a command prints to standard output: safe to show, and no faster than it is taken. */
import { once } from 'node:events';
import { Sanitizer } from './sanitize.js';

export interface CommandOutput {
  /** A returned promise holds the program back until the reader has caught up. */
  write(chunk: { text: string }): void | Promise<void>;
  end(): void;
}

/** Calls `onBroken` once when the reader has gone away. */
export function openOutput(onBroken: () => void, stream: NodeJS.WriteStream = process.stdout): CommandOutput {
  const sanitizer = new Sanitizer(stream.isTTY ? 'terminal' : 'plain');
  let broken = false;
  stream.once('error', () => {
    broken = true;
    onBroken();
  });
  return {
    write({ text }) {
      const safe = sanitizer.write(text);
      if (broken || safe === '' || stream.write(safe)) return;
      return once(stream, 'drain').then(
        () => {},
        () => {},
      );
    },
    end() {
      const rest = sanitizer.end();
      if (!broken && rest !== '') stream.write(rest);
    },
  };
}
