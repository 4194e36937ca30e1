/**
 * Keeps the cell off the terminal while a question to a person is open there: the cell could repaint the question, or
 * read the answer.
 */

/**
 * Ends whatever the cell left half done, resets colours, character sets, margins and modes, and starts a new line at
 * the bottom.
 */
const freshLine =
  '\x18\x1b\\\x1b%G\x1b(B\x0f\x1b[0m\x1b[r\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b[999;1H\r\n\x1b[J';

let held: Promise<unknown> | undefined;

/** Settles when no question is open; undefined when none is open now. */
export function untilFree(): Promise<unknown> | undefined {
  return held;
}

/** Asks one question after the other. `write`: where to show it. */
export async function holdTerminal<Answer>(
  ask: () => Promise<Answer>,
  write: (text: string) => void = (text) => process.stderr.write(text),
): Promise<Answer> {
  const before = held;
  const asked = (async () => {
    await before;
    const { stdin } = process;
    const [isRaw, isFlowing] = [stdin.isRaw === true, stdin.readableFlowing === true];
    write(freshLine);
    try {
      return await ask();
    } finally {
      // Reading a line leaves the terminal as if nothing else read from it.
      if (isRaw) stdin.setRawMode(true);
      if (isFlowing) stdin.resume();
    }
  })();
  const hold = asked.then(
    () => {},
    () => {},
  );
  const settled: Promise<unknown> = hold.then(() => {
    if (held === settled) held = undefined;
  });
  held = settled;
  return asked;
}
