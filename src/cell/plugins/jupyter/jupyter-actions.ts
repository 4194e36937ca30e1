/** The actions for code cells. */
import * as z from 'zod';
import { endedBySchema, pathSchema, timeoutSchema } from '../../../protocol/actions/common.js';
import { defineAction } from '../../../protocol/index.js';
import { noticeSchemas } from './notices.js';

const languageSchema = z.string().min(1).max(64);
const contextSchema = z.string().min(1).max(128);

/** Data by media type, as in Jupyter: text unchanged, JSON as a value, anything else in base64. */
const mediaSchema = z.record(z.string(), z.unknown());

/** Marks omitted output. */
const gapSchema = z.object({ type: z.literal('gap'), omittedBytes: z.int() });

const codeOutputSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({
    /** A result is the value of the code cell; its code can show as many displays as it likes. */
    type: z.enum(['result', 'display']),
    data: mediaSchema,
    /** Paths of the files that hold its media. */
    files: z.record(z.string(), z.string()).optional(),
    /** Bytes of omitted media, by media type. */
    omitted: z.record(z.string(), z.int()).optional(),
  }),
  z.object({
    type: z.literal('error'),
    name: z.string(),
    message: z.string(),
    traceback: z.array(z.string()),
  }),
  gapSchema,
]);

/** One output of a code cell: a stream, a result, a display or an error. */
export type CodeOutput = z.infer<typeof codeOutputSchema>;

const codePartSchema = z.discriminatedUnion('type', [
  /** What the code showed, and white space between the parts. */
  z.object({ type: z.literal('text'), text: z.string() }),
  gapSchema,
  z.object({ type: z.literal('no-output') }),
  z.object({ type: z.literal('timeout'), seconds: z.number() }),
  ...noticeSchemas,
  z.object({ type: z.enum(['directory', 'interpreter']), path: z.string() }),
]);

/** A piece of the text of a code cell: what its code showed, or what is to say about it. */
export type CodePart = z.infer<typeof codePartSchema>;

const runCode = defineAction('run_code', {
  summary: 'Runs code in a kernel that keeps its state from one cell to the next.',
  startsProcess: true,
  get input() {
    return {
      code: z.string(),
      /** A language, or the name of an installed kernel. */
      language: languageSchema.default('python'),
      /** Code cells with the same context and language share their state; others see nothing of it. */
      context: contextSchema.default('default'),
      /** Interrupts the code cell after this time, and ends its kernel if that does not help. */
      timeoutMs: timeoutSchema.optional(),
      /** Answers for code that asks for input, in order. Without any, asking is an error in the code. */
      input: z.array(z.string()).optional(),
      /** How much text the observation itself carries: its head and its tail. */
      maxOutputBytes: z.int().min(256).max(16_777_216).default(65_536),
      /** How many bytes of images and other media it carries; it omits the rest, and names it. */
      maxMediaBytes: z.int().min(0).max(16_777_216).default(8_388_608),
      /** A directory that also gets images and other media. */
      saveMedia: pathSchema.optional(),
    };
  },
  kinds: {
    code: { kind: 'code', languageIn: 'language' },
    language: 'plain',
    context: 'plain',
    input: { kind: 'input', target: 'context' },
    saveMedia: 'path-write',
  },
  get output() {
    return {
      /** What a person would see: streams, results, displays and errors as text, in order, without colours. */
      text: z.string(),
      outputs: z.array(codeOutputSchema),
      /** Whether the code itself ended well. */
      status: z.enum(['ok', 'error']),
      /** `exit` when the code cell ran to its end. At `killed`, `oom` and `lost` its kernel died with its state. */
      endedBy: endedBySchema,
      executionCount: z.int().nullable(),
      language: z.string(),
      context: z.string(),
      durationMs: z.number(),
      /** True when `outputs` omits something. */
      truncated: z.boolean(),
      /** Leads to the whole output, through `read_output`; present when `outputs` has only head and tail. */
      outputId: z.string().optional(),
      /** What you should know, such as that there is a new kernel. */
      notice: z.string().optional(),
    };
  },
});

const runIpython = defineAction('run_ipython', {
  summary: 'Runs a Python cell and gives what it showed as one text.',
  offered: 'by-name',
  startsProcess: true,
  get input() {
    return {
      code: z.string(),
      /** Adds the working directory and the path of the interpreter. */
      include_extra: z.boolean().default(true),
      /** Gives the text in pieces too, for callers with other words for what the code did not say itself. */
      parts: z.boolean().default(false),
      timeoutMs: timeoutSchema.optional(),
    };
  },
  kinds: { code: { kind: 'code', language: 'python' } },
  get output() {
    return {
      content: z.string(),
      code: z.string(),
      /** Images as data addresses; null without any. */
      image_urls: z.array(z.string()).nullable(),
      /** False after an error in the code, a timeout, or the death of the kernel. */
      success: z.boolean(),
      parts: z.array(codePartSchema).optional(),
    };
  },
});

const listContexts = defineAction('list_contexts', {
  summary: 'Lists the contexts of code cells, and the installed kernels.',
  offered: 'by-name',
  readOnly: true,
  input: {},
  kinds: {},
  get output() {
    return {
      contexts: z.array(
        z.object({
          context: z.string(),
          language: z.string(),
          kernel: z.string(),
          state: z.enum(['starting', 'idle', 'busy', 'dead']),
          /** Process id inside the cell. */
          pid: z.int().nullable(),
          /** Code cells that wait for their turn. */
          waiting: z.int(),
        }),
      ),
      /** Kernels that started ahead and wait for a context. */
      spare: z.int(),
      kernels: z.array(z.object({ name: z.string(), language: z.string(), displayName: z.string() })),
    };
  },
});

const controlContext = defineAction('control_context', {
  summary: 'Interrupts the running cell of a context, restarts its kernel, or ends it.',
  offered: 'by-name',
  get input() {
    return {
      operation: z.enum(['interrupt', 'restart', 'close']),
      language: languageSchema.default('python'),
      context: contextSchema.default('default'),
    };
  },
  kinds: { operation: 'plain', language: 'plain', context: 'plain' },
  output: { context: z.string(), language: z.string() },
});

export const jupyterActions = {
  run_code: runCode,
  run_ipython: runIpython,
  list_contexts: listContexts,
  control_context: controlContext,
};
