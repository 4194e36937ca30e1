import * as z from 'zod';
import { defineAction } from '../action.js';
import { pathSchema } from './common.js';

const limitSchema = z.int().positive().max(100_000);

export const glob = defineAction('glob', {
  summary: 'Finds files by pattern; skips ignored and hidden files unless you ask for them.',
  readOnly: true,
  get input() {
    return {
      /** `*`, `**`, `?`, `[a-z]`, `{a,b}`; a pattern without a slash matches the file name at any depth. */
      pattern: z.string().min(1).max(4096),
      path: pathSchema.default('.'),
      hidden: z.boolean().optional(),
      /** Looks at files that `.gitignore` and `.ignore` files exclude, too. */
      ignored: z.boolean().optional(),
      limit: limitSchema.default(1000),
    };
  },
  kinds: { pattern: 'plain', path: 'path' },
  get output() {
    return {
      /** Relative to the workspace where they are in it, sorted. */
      paths: z.array(z.string()),
      truncated: z.boolean(),
      /** The program of the cell that went through a large tree; absent when the search did it itself. */
      program: z.literal('rg').optional(),
    };
  },
});

const grepMatchSchema = z.object({
  path: z.string(),
  /** Counted from 1. */
  line: z.int(),
  text: z.string(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
});

/** A line that matches, with the lines around it. */
export type GrepMatch = z.infer<typeof grepMatchSchema>;

export const grep = defineAction('grep', {
  summary: 'Searches file contents with a regular expression.',
  readOnly: true,
  get input() {
    return {
      pattern: z.string().min(1).max(4096),
      path: pathSchema.default('.'),
      /** Only files whose path matches. */
      glob: z.string().min(1).max(4096).optional(),
      ignoreCase: z.boolean().optional(),
      /** Takes the pattern as plain text. */
      literal: z.boolean().optional(),
      /** Lines to show before and after each match. */
      context: z.int().nonnegative().max(100).default(0),
      hidden: z.boolean().optional(),
      ignored: z.boolean().optional(),
      limit: limitSchema.default(1000),
    };
  },
  kinds: { pattern: 'plain', path: 'path-read', glob: 'plain' },
  get output() {
    return {
      matches: z.array(grepMatchSchema),
      truncated: z.boolean(),
      /** The program of the cell that went through a large tree; absent when the search did it itself. */
      program: z.literal('rg').optional(),
    };
  },
});
