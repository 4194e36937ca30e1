import * as z from 'zod';
import { defineAction } from '../action.js';
import { encodingSchema, endedBySchema, environmentSchema, pathSchema, timeoutSchema } from './common.js';

const idSchema = z.string().min(1).max(128);

const processSchema = z.object({
  id: z.string(),
  /** Process id inside the cell. */
  pid: z.int(),
  argv: z.array(z.string()),
  cwd: z.string(),
  running: z.boolean(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** Leads to what it printed so far, through `read_output`. */
  outputId: z.string(),
  /** The rest is null while it runs. */
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  endedBy: endedBySchema.nullable(),
  durationMs: z.number().nullable(),
});

/** A plain process of the cell, running or ended. */
export type ProcessInfo = z.infer<typeof processSchema>;

export const startProcess = defineAction('start_process', {
  summary: 'Starts a plain process, without a terminal, that goes on in the background.',
  offered: 'by-name',
  startsProcess: true,
  get input() {
    return {
      /** Program and arguments, started without a shell. Give this or `command`. */
      argv: z
        .array(z.string().refine((word) => !word.includes('\0'), 'must not contain a NUL character'))
        .min(1)
        .optional(),
      /** Shell source for `bash -c`. */
      command: z.string().optional(),
      cwd: pathSchema.optional(),
      env: environmentSchema.optional(),
      /** Bytes for standard input, which then closes. */
      stdin: z.string().optional(),
      encoding: encodingSchema.default('utf8'),
      /** Leaves standard input open for `write_process`. */
      keepStdin: z.boolean().optional(),
      timeoutMs: timeoutSchema.optional(),
      outputLimitBytes: z.int().positive().optional(),
    };
  },
  kinds: {
    argv: { kind: 'argv', stdin: 'stdin', encoding: 'encoding', open: 'keepStdin' },
    command: { kind: 'shell', stdin: 'stdin', encoding: 'encoding', open: 'keepStdin' },
    cwd: 'path-cwd',
    env: 'environment',
    stdin: 'part',
    encoding: 'plain',
  },
  output: { id: z.string(), pid: z.int() },
});

export const writeProcess = defineAction('write_process', {
  summary: 'Writes to the standard input of a process.',
  offered: 'by-name',
  get input() {
    return {
      id: idSchema,
      data: z.string(),
      encoding: encodingSchema.default('utf8'),
      /** Closes standard input afterwards. */
      end: z.boolean().optional(),
    };
  },
  kinds: { id: 'plain', data: { kind: 'input', encoding: 'encoding', target: 'id' }, encoding: 'plain' },
  output: { id: z.string() },
});

export const listProcesses = defineAction('list_processes', {
  summary: 'Lists the processes that actions started, ended ones included.',
  offered: 'by-name',
  readOnly: true,
  input: {},
  kinds: {},
  output: { processes: z.array(processSchema) },
});

export const getProcess = defineAction('get_process', {
  summary: 'Tells the state of one process.',
  offered: 'by-name',
  readOnly: true,
  input: { id: idSchema },
  kinds: { id: 'plain' },
  output: processSchema.shape,
});

export const signalProcess = defineAction('signal_process', {
  summary: 'Sends a signal to a process and all it started.',
  offered: 'by-name',
  get input() {
    return {
      id: idSchema,
      signal: z
        .string()
        .regex(/^SIG[A-Z0-9]+$/)
        .default('SIGTERM'),
    };
  },
  kinds: { id: 'plain', signal: 'plain' },
  output: { id: z.string(), signal: z.string() },
});

export const waitProcess = defineAction('wait_process', {
  summary: 'Waits for the end of a process, passing its output on as it comes, and gives the result.',
  offered: 'by-name',
  readOnly: true,
  get input() {
    return {
      id: idSchema,
      /** Stops waiting after this time, with `timed-out`; the process continues. */
      timeoutMs: timeoutSchema.optional(),
      encoding: encodingSchema.default('utf8'),
      maxOutputBytes: z.int().min(256).max(67_108_864).default(16_777_216),
      /** Byte positions from which output comes as progress, to resume after a lost connection. */
      stdoutFrom: z.int().nonnegative().default(0),
      stderrFrom: z.int().nonnegative().default(0),
    };
  },
  kinds: { id: 'plain', encoding: 'plain' },
  get output() {
    return {
      id: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      encoding: encodingSchema,
      exitCode: z.int().nullable(),
      signal: z.string().nullable(),
      endedBy: endedBySchema,
      durationMs: z.number(),
      truncated: z.boolean(),
      /** Leads to the whole output, through `read_output`. */
      outputId: z.string(),
    };
  },
});
