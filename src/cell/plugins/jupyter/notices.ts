/** What a caller should know about a kernel besides its output: as data, and in words. */
import * as z from 'zod';
import type { KernelExit } from './jupyter-kernel.js';

export const noticeSchemas = [
  z.object({ type: z.literal('reply-too-large'), bytes: z.int() }),
  z.object({ type: z.literal('too-few-answers'), answers: z.int() }),
  z.object({
    type: z.literal('kernel-died'),
    how: z.discriminatedUnion('endedBy', [
      z.object({ endedBy: z.literal('oom') }),
      z.object({ endedBy: z.literal('killed'), signal: z.string() }),
      z.object({ endedBy: z.literal('lost'), exitCode: z.int().nullable() }),
    ]),
  }),
  /** Because it did not react to an interrupt. */
  z.object({ type: z.literal('kernel-ended') }),
  z.object({ type: z.literal('malformed'), messages: z.int() }),
] as const;

const noticeSchema = z.discriminatedUnion('type', noticeSchemas);

export type Notice = z.infer<typeof noticeSchema>;

export function noticeText(notice: Notice): string {
  switch (notice.type) {
    case 'reply-too-large':
      return `The kernel's reply has ${notice.bytes} bytes, which is too large to be read; an error with a long traceback is the usual reason.`;
    case 'too-few-answers':
      return `The code asked for input more often than the ${notice.answers} answers it was given, and was interrupted.`;
    case 'kernel-died':
      return `The kernel died while the cell ran. ${describeExit(notice.how)} ${lost}`;
    case 'kernel-ended':
      return `The code cell did not react to the interrupt, so its kernel was ended. ${lost}`;
    case 'malformed':
      return `${notice.messages} messages of the kernel were malformed or not signed, and ignored.`;
  }
}

const lost = 'Its state is lost; the next code cell starts a new one.';

export function describeExit(exit: KernelExit): string {
  switch (exit.endedBy) {
    case 'oom':
      return 'It was killed because the cell ran out of memory.';
    case 'killed':
      return `It was ended by ${exit.signal}.`;
    case 'lost':
      return `It ended by itself, with exit code ${exit.exitCode}.`;
  }
}
