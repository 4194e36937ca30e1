/** Keeps the cell off the terminal while a person is asked something there: it could repaint the question, or read the answer. */

/** Whatever the cell left half done ends; colours, character sets, margins and modes are the usual ones; on a line of its own at the bottom. */
const freshLine =
  '\x18\x1b\\\x1b%G\x1b(B\x0f\x1b[0m\x1b[r\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b[999;1H\r\n\x1b[J';

let held: Promise<unknown> | undefined;

/** Settles when nobody is asked anything; undefined when that is so now. */
export function untilFree(): Promise<unknown> | undefined {
  return held;
}

/** One question after the other. `write`: where it is shown. */
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
      // Reading a line leaves it as if nobody else read from it.
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
