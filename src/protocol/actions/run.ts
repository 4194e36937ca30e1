import * as z from 'zod';
import { defineAction } from '../action.js';
import { encodingSchema, endedBySchema, environmentSchema, pathSchema, timeoutSchema } from './common.js';

/** The session that `run` uses when you name none. */
export const defaultSession = 'default';

const sessionSchema = z.string().min(1).max(128);

export const run = defineAction('run', {
  summary: 'Runs a command in a persistent shell session, or talks to the one that is still running there.',
  startsProcess: true,
  get input() {
    return {
      /** Shell source. Empty: what the running command printed since, at once unless a limit says how long to wait. With `input`: text or a key such as `C-c`. */
      command: z.string().refine((command) => !command.includes('\0'), 'must not contain a NUL character'),
      session: sessionSchema.default(defaultSession),
      /** Working directory of this one command; the session returns to its own afterwards. */
      cwd: pathSchema.optional(),
      /** Variables of this one command. */
      env: environmentSchema.optional(),
      /** Gives the command an empty standard input in place of the terminal. */
      emptyStdin: z.boolean().optional(),
      /** The size of the session's terminal from here on. Default: 200 columns and 50 rows. */
      size: z.object({ columns: z.int().min(2).max(1000), rows: z.int().min(2).max(1000) }).optional(),
      /** Sends `command` to the running command's terminal instead of starting a new one. */
      input: z.boolean().optional(),
      /** Ends the command and all it started after this time. */
      timeoutMs: timeoutSchema.optional(),
      /** Returns, leaving the command alive, when it printed nothing for this time. */
      noChangeTimeoutMs: timeoutSchema.optional(),
      /** Returns after this time, leaving the command alive, however much it prints; `endedBy` is `no-change` then, too. */
      handBackMs: timeoutSchema.optional(),
      /** How much of the output the observation itself carries: its head and its tail. */
      maxOutputBytes: z.int().min(256).max(16_777_216).default(65_536),
      /** Ends the command once it has printed more than this. */
      outputLimitBytes: z.int().positive().optional(),
    };
  },
  kinds: {
    command: { kind: 'shell', typedIf: 'input', target: 'session' },
    session: 'plain',
    cwd: 'path-cwd',
    env: 'environment',
    size: 'plain',
  },
  get output() {
    return {
      command: z.string(),
      /** What a person would see on the terminal: no escape sequences, progress bars folded. */
      output: z.string(),
      /** Null while the command still runs or when it ended without one. */
      exitCode: z.int().nullable(),
      signal: z.string().nullable(),
      endedBy: endedBySchema,
      cwd: z.string(),
      durationMs: z.number(),
      session: z.string(),
      /** True when `output` has only the head and the tail; `outputId` leads to the whole. */
      truncated: z.boolean(),
      outputId: z.string().optional(),
      /** Process id, inside the cell, of the session's shell. */
      pid: z.int().optional(),
      /** What you should know about the session, such as that it has a new shell. */
      notice: z.string().optional(),
    };
  },
});

export const readOutput = defineAction('read_output', {
  summary: 'Reads kept output of a command or process, from a byte position.',
  readOnly: true,
  get input() {
    return {
      outputId: z.string(),
      stream: z.enum(['terminal', 'stdout', 'stderr']).optional(),
      /** Byte position to start at. */
      from: z.int().nonnegative().default(0),
      limitBytes: z.int().positive().max(16_777_216).default(1_048_576),
      encoding: encodingSchema.default('utf8'),
    };
  },
  kinds: { outputId: 'plain', stream: 'plain', encoding: 'plain' },
  get output() {
    return {
      outputId: z.string(),
      data: z.string(),
      encoding: encodingSchema,
      /** Position of the first byte of `data`; later than you asked if the store dropped the middle of a very long output. */
      from: z.int(),
      /** Where the next call continues. */
      next: z.int(),
      totalBytes: z.int(),
      /** True when the command ended and nothing follows `next`. */
      complete: z.boolean(),
    };
  },
});

export const listSessions = defineAction('list_sessions', {
  summary: 'Lists the shell sessions.',
  offered: 'by-name',
  readOnly: true,
  input: {},
  kinds: {},
  get output() {
    return {
      sessions: z.array(
        z.object({
          session: z.string(),
          cwd: z.string(),
          /** The command that is still running, if any. */
          running: z.string().nullable(),
          pid: z.int().optional(),
        }),
      ),
    };
  },
});

export const closeSession = defineAction('close_session', {
  summary: 'Ends a shell session and all that runs in it.',
  offered: 'by-name',
  input: { session: sessionSchema },
  kinds: { session: 'plain' },
  output: { session: z.string() },
});
