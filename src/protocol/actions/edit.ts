import * as z from 'zod';
import { defineAction } from '../action.js';
import { pathSchema } from './common.js';

const replacement = {
  /** Exact text to find. Refused when it is absent, or present more than once without `replaceAll`. */
  oldText: z.string().min(1).optional(),
  newText: z.string().optional(),
  replaceAll: z.boolean().optional(),
  /** Inserts `newText` as whole lines after this line; 0 is the beginning of the file. */
  insertLine: z.int().nonnegative().optional(),
};

const editStepSchema = z
  .strictObject(replacement)
  .refine(
    (step) => step.newText !== undefined && (step.oldText === undefined) !== (step.insertLine === undefined),
    'needs newText and either oldText or insertLine',
  );

/** One change of an edit: a replacement or an insertion. */
export type EditStep = z.infer<typeof editStepSchema>;

/** Give `oldText` + `newText`, `insertLine` + `newText`, `edits`, or `undo`. */
export const edit = defineAction('edit', {
  summary: 'Changes a text file exactly: replace, insert, several changes at once, or undo the last one.',
  get input() {
    return {
      path: pathSchema,
      ...replacement,
      /** Several steps, applied in order, all or nothing. */
      edits: z.array(editStepSchema).min(1).max(1000).optional(),
      /** Takes back the last edit of this file. */
      undo: z.boolean().optional(),
    };
  },
  kinds: {
    path: 'path-write',
    oldText: 'plain',
    newText: { kind: 'content', to: 'path', part: true },
    edits: { fields: { oldText: 'plain', newText: { kind: 'content', to: 'path', part: true } } },
  },
  get output() {
    return {
      path: z.string(),
      /** Unified diff of the change. */
      diff: z.string(),
      /** The changed region with line numbers. */
      snippet: z.string(),
      /** How many places changed. */
      changes: z.int(),
    };
  },
});
