import * as z from 'zod';
import { defineAction } from '../action.js';
import { encodingSchema, pathSchema } from './common.js';

const modeSchema = z.int().min(0).max(0o777);

const fileTypeSchema = z.enum(['file', 'directory', 'symlink', 'fifo', 'socket', 'device']);

const entryShape = {
  path: z.string(),
  type: fileTypeSchema,
  sizeBytes: z.int(),
  /** Permission bits. */
  mode: z.int(),
  /** Milliseconds since the epoch. */
  modifiedAt: z.number(),
  /** Where a symbolic link points, as written in it. */
  target: z.string().optional(),
};

const fileEntrySchema = z.object({ name: z.string(), ...entryShape });
/** A file or directory in a list. */
export type FileEntry = z.infer<typeof fileEntrySchema>;

export const read = defineAction('read', {
  summary: 'Reads a file: text with an optional line range, anything else as base64 with its media type.',
  readOnly: true,
  get input() {
    return {
      path: pathSchema,
      /** First line, counted from 1. */
      startLine: z.int().positive().optional(),
      /** Last line, included. */
      endLine: z.int().positive().optional(),
      /** Default: text when the content is text, base64 when it is not. */
      encoding: encodingSchema.optional(),
      /** Larger results fail with `file-too-large`. */
      maxBytes: z.int().positive().max(67_108_864).default(10_485_760),
    };
  },
  kinds: { path: 'path-read', encoding: 'plain' },
  get output() {
    return {
      path: z.string(),
      content: z.string(),
      encoding: encodingSchema,
      mediaType: z.string(),
      /** Size of the whole file. */
      sizeBytes: z.int(),
      /** Text only. */
      totalLines: z.int().optional(),
      startLine: z.int().optional(),
      endLine: z.int().optional(),
    };
  },
});

export const write = defineAction('write', {
  summary: 'Writes a file whole, or appends to it; makes parent directories.',
  get input() {
    return {
      path: pathSchema,
      content: z.string(),
      encoding: encodingSchema.default('utf8'),
      /** Permission bits; default: kept for an existing file, 0644 for a new one. */
      mode: modeSchema.optional(),
      append: z.boolean().optional(),
    };
  },
  kinds: {
    path: 'path-write',
    content: { kind: 'content', to: 'path', encoding: 'encoding', append: 'append' },
    encoding: 'plain',
  },
  output: { path: z.string(), sizeBytes: z.int(), created: z.boolean() },
});

export const list = defineAction('list', {
  summary: 'Lists a directory, sorted by name; deeper levels on request.',
  readOnly: true,
  get input() {
    return {
      path: pathSchema.default('.'),
      depth: z.int().min(1).max(64).default(1),
      limit: z.int().positive().max(100_000).default(10_000),
    };
  },
  kinds: { path: 'path' },
  output: { path: z.string(), entries: z.array(fileEntrySchema), truncated: z.boolean() },
});

export const stat = defineAction('stat', {
  summary: 'Tells what a path is, without following a final symbolic link.',
  offered: 'by-name',
  readOnly: true,
  input: { path: pathSchema },
  kinds: { path: 'path' },
  output: entryShape,
});

export const makeDir = defineAction('make_dir', {
  summary: 'Makes a directory and its parents; one that exists already is fine.',
  offered: 'by-name',
  input: { path: pathSchema, mode: modeSchema.optional() },
  kinds: { path: 'path-write' },
  output: { path: z.string(), created: z.boolean() },
});

export const remove = defineAction('remove', {
  summary: 'Removes a file, a link or a directory.',
  offered: 'by-name',
  get input() {
    return {
      path: pathSchema,
      recursive: z.boolean().optional(),
      /** Succeeds also when nothing is there. */
      force: z.boolean().optional(),
    };
  },
  kinds: { path: { kind: 'path-remove', recursive: 'recursive' } },
  output: { path: z.string(), removed: z.boolean() },
});

const transferInput = {
  from: pathSchema,
  to: pathSchema,
  /** Without it an existing target fails with `already-exists`. */
  overwrite: z.boolean().optional(),
};

export const move = defineAction('move', {
  summary: 'Moves or renames a file or directory.',
  offered: 'by-name',
  input: transferInput,
  kinds: { from: 'path-remove', to: 'path-write' },
  output: { from: z.string(), to: z.string() },
});

export const copy = defineAction('copy', {
  summary: 'Copies a file or a whole directory; links stay links.',
  offered: 'by-name',
  input: transferInput,
  kinds: { from: 'path-read', to: 'path-write' },
  output: { from: z.string(), to: z.string(), files: z.int() },
});

export const watch = defineAction('watch', {
  summary: 'Reports changes below a path as progress until you cancel it.',
  offered: 'never',
  readOnly: true,
  get input() {
    return {
      path: pathSchema.default('.'),
      recursive: z.boolean().default(true),
    };
  },
  kinds: { path: 'path' },
  output: { path: z.string(), changes: z.int() },
});
