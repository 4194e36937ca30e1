/**
 * What the schema of a setting says besides its type: a sentence for the reference page, and how to treat its value.
 */
import * as z from 'zod';

export interface Marks {
  /** What the setting does, for the reference page. */
  readonly about?: string;
  /** The value is a path: a relative one starts at the directory of the file that names it. */
  readonly path?: boolean;
  /** The file that the path leads to names programs to run, so no file that is found by searching may name it. */
  readonly code?: boolean;
  /** The value names a store of events, which can also be a file. */
  readonly store?: boolean;
  /** The value itself is a secret, so only a file that no other user can read may hold it. */
  readonly secret?: boolean;
}

const marks = z.registry<Marks>();

/** The schema with a sentence that says what it is for. */
export function about<Schema extends z.ZodType>(text: string, schema: Schema): Schema {
  marks.add(schema as z.ZodType, { ...marks.get(schema as z.ZodType), about: text });
  return schema;
}

export function filePath(description = 'the path of a file'): z.ZodString {
  return z.string().min(1).describe(description).register(marks, { path: true });
}

/** Of a file that names programs, which then run on this machine. */
export function codePath(): z.ZodString {
  return z.string().min(1).describe('the path of a file').register(marks, { path: true, code: true });
}

/** Where to keep events or records; with `memory`, nowhere. */
export function storeName(pattern: RegExp, description: string): z.ZodString {
  return z.string().regex(pattern).describe(description).register(marks, { store: true });
}

export function secretText(): z.ZodString {
  return z.string().min(1).register(marks, { secret: true });
}

export function marksOf(schema: z.ZodType): Marks {
  return marks.get(schema) ?? {};
}
