/** Questions that configuration asks of a schema. */
import { z } from 'zod';
import { isTable, type Table } from './plain-table.js';

/** The schema inside `optional`, `default` and their like. */
export function unwrap(schema: z.ZodType): z.ZodType {
  const wraps =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return wraps ? unwrap(schema.unwrap() as z.ZodType) : schema;
}

/** The values an enumeration takes; none for any other schema. */
export function choicesOf(schema: z.ZodType): string[] {
  const inner = unwrap(schema);
  return inner instanceof z.ZodEnum ? inner.options.map(String) : [];
}

/** Reads the text of an environment variable as the type its setting has. What does not fit stays text. */
export function fromText(text: string, schema: z.ZodType): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return text;
  if (inner instanceof z.ZodBoolean) return { true: true, '1': true, false: false, '0': false }[text] ?? text;
  if (inner instanceof z.ZodNumber)
    return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Gives the keys of a table the names its schema has: `base_image` in a file is `baseImage` in code. */
export function toOptionNames(value: unknown, schema: z.ZodType): unknown {
  const inner = unwrap(schema);
  if (!isTable(value) || !(inner instanceof z.ZodObject)) return value;
  const shape = inner.shape as Record<string, z.ZodType>;
  const names = new Map(Object.keys(shape).map((name) => [toSnakeCase(name), name]));
  const renamed: Table = {};
  for (const [key, entry] of Object.entries(value)) {
    const name = names.get(key) ?? key;
    const property = shape[name];
    renamed[name] = property === undefined ? entry : toOptionNames(entry, property);
  }
  return renamed;
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
