/** Questions that configuration asks of a schema. */
import { z } from 'zod';
import { type Marks, marksOf } from '../protocol/config-marks.js';
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

/** Reads the text of an environment variable as the type of its setting. Text that does not fit stays text. */
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

/** Gives the keys of a table the names of its schema: `base_image` in a file is `baseImage` in code. */
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

/** Changes each text in the value that the schema marks, such as a path. `key` says where the text stands. */
export function changeMarked(
  value: unknown,
  schema: z.ZodType,
  change: (text: string, marks: Marks, key: string) => unknown,
  key = '',
): unknown {
  if (typeof value === 'string') {
    const marks = marksOf(innermost(value, schema));
    return Object.keys(marks).length === 0 ? value : change(value, marks, key);
  }
  const within = (entry: unknown, name: string | number) => {
    const part = partOf(schema, value, name);
    const at = key === '' ? String(name) : `${key}.${name}`;
    return part === undefined ? entry : changeMarked(entry, part, change, at);
  };
  if (Array.isArray(value)) return value.map(within);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, within(entry, name)]));
}

/** The schema of a member of a value; undefined where there is none. */
export function partOf(schema: z.ZodType, value: unknown, name: string | number): z.ZodType | undefined {
  const inner = innermost(value, schema);
  if (inner instanceof z.ZodObject) {
    const shape = inner.shape as Record<string, z.ZodType>;
    return Object.hasOwn(shape, name) ? shape[name] : undefined;
  }
  if (inner instanceof z.ZodArray) return inner.element as z.ZodType;
  return inner instanceof z.ZodRecord ? (inner.valueType as z.ZodType) : undefined;
}

/** The schema to check a value against: of several, the one that its author most likely meant. */
export function innermost(value: unknown, schema: z.ZodType): z.ZodType {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  const options = (inner.options as z.ZodType[]).map((option) => innermost(value, option));
  const names = isTable(value) ? Object.keys(value) : [];
  const shared = (option: z.ZodType) =>
    option instanceof z.ZodObject ? names.filter((name) => Object.hasOwn(option.shape, name)).length : -1;
  const fitting = options.find((option) => option.safeParse(value).success);
  const alike = options.toSorted((left, right) => shared(right) - shared(left))[0];
  return fitting ?? alike ?? inner;
}
