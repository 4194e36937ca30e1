/**
 * The one boot protocol of every program that serves executors: settings in, handshake out. It reads its settings from a
 * file or an open descriptor, so that no secret stands in an argument or the environment, and says in one line on standard
 * output that it listens, or why it does not.
 */
import { closeSync, readFileSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { errorSchema } from '../../protocol/error-body.js';
import { keepHeapSmall } from './small-heap.js';
import { startError } from './start-error.js';

const standardOutput = 1;

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

/** `source`: the number of a descriptor, or the path of a file. Gives what `serve` could say, as the handshake. */
export async function boot<Settings>(
  source: string,
  schema: z.ZodType<Settings>,
  serve: (settings: Settings) => Promise<{ kernel?: KernelReport }>,
): Promise<void> {
  const text = readSettings(source);
  // A starter that went away before it said what to serve wants nothing any more.
  if (text === '') process.exit(0);
  keepHeapSmall();
  try {
    say({ ready: true, ...(await serve(schema.parse(JSON.parse(text)))) });
  } catch (error) {
    say({ error: startError(error) });
    process.exit(1);
  }
}

function readSettings(source: string): string {
  if (!/^\d+$/.test(source)) return readFileSync(source, 'utf8');
  const descriptor = Number(source);
  const text = readFileSync(descriptor, 'utf8');
  // What stays open would be inherited by commands.
  closeSync(descriptor);
  return text;
}

/** Its one line; a stream for it would have to be loaded first. */
function say(handshake: Handshake): void {
  writeSync(standardOutput, `${JSON.stringify(handshake)}\n`);
}
