/**
 * The one boot protocol of every program that serves executors: settings in, handshake out. It reads its settings from a
 * file or from the first line of its standard input, so that no secret stands in an argument or the environment, and says in
 * one marked line on standard output that it listens, or why it does not. So whatever can run a program somewhere can
 * start it. All else on standard output belongs to the log.
 */
import { readFileSync, readSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { errorSchema } from '../../protocol/error-body.js';
import { keepHeapSmall } from './small-heap.js';
import { printToLog } from './standard-streams.js';
import { startError } from './start-error.js';

const standardInput = 0;
const standardOutput = 1;

/** In place of a file: the settings are the first line of standard input, which stays open. */
export const fromInput = '-';

/** What the line of the handshake begins with: plugins and the way to the program may print, too. */
export const handshakeMark = 'workcell-handshake ';

/** What the kernel says of the program itself, before any command ran. */
const kernelSchema = z.object({
  seccomp: z.boolean(),
  noNewPrivileges: z.boolean(),
  /** Capabilities that any process of the place could have, as a bit set in hexadecimal. */
  capabilities: z.string(),
  /** As in /proc/version. */
  version: z.string(),
});

export const handshakeSchema = z.union([
  z.object({ ready: z.literal(true), kernel: kernelSchema.optional() }),
  z.object({ error: errorSchema }),
]);

export type Handshake = z.infer<typeof handshakeSchema>;
export type KernelReport = z.infer<typeof kernelSchema>;

interface Place {
  /** The path of a file, or `-`. */
  readonly source: string;
  /** For a standard input that stays open when the starter dies: how long it may take. Default: for ever. */
  readonly limitMs?: number;
}

/** Sends the result of `serve` as the handshake. */
export async function boot<Settings>(
  { source, limitMs = 0 }: Place,
  schema: z.ZodType<Settings>,
  serve: (settings: Settings) => Promise<{ kernel?: KernelReport }>,
): Promise<void> {
  const text = limitMs > 0 ? await readInTime(limitMs) : readSettings(source);
  // The starter left before it sent the settings, so there is nothing to serve.
  if (text === '') process.exit(0);
  keepHeapSmall();
  printToLog();
  try {
    say({ ready: true, ...(await serve(schema.parse(JSON.parse(text)))) });
  } catch (error) {
    say({ error: startError(error) });
    process.exit(1);
  }
}

function readSettings(source: string): string {
  return source === fromInput ? readLine() : readFileSync(source, 'utf8');
}

/** The first line of standard input; empty when the input ends before. The starter sends nothing after it. */
function readLine(): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    const length = readSync(standardInput, chunk);
    if (length === 0) return '';
    const end = chunk.subarray(0, length).indexOf('\n');
    chunks.push(chunk.subarray(0, end === -1 ? length : end));
    if (end !== -1) return Buffer.concat(chunks).toString('utf8');
  }
}

/** The same within a time limit; empty when it is over. What reads the input at once cannot be interrupted. */
function readInTime(limitMs: number): Promise<string> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const finish = (text: string) => {
      clearTimeout(timer);
      stdin.off('data', take).off('end', giveUp).off('error', giveUp).pause();
      resolve(text);
    };
    const giveUp = () => finish('');
    const take = (chunk: Buffer) => {
      const end = chunk.indexOf('\n');
      chunks.push(chunk.subarray(0, end === -1 ? chunk.length : end));
      if (end !== -1) finish(Buffer.concat(chunks).toString('utf8'));
    };
    const timer = setTimeout(giveUp, limitMs);
    stdin.on('data', take).on('end', giveUp).on('error', giveUp);
  });
}

/** Starts a new line, whatever stands before it. Writes directly, because a stream would have to load first. */
function say(handshake: Handshake): void {
  writeSync(standardOutput, `\n${handshakeMark}${JSON.stringify(handshake)}\n`);
}
