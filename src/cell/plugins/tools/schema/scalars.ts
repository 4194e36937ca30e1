/** Keywords about numbers and texts: what is wrong, in the words that validators use. */
import type { JsonSchema } from '../json-schema.js';

/** Made only where somebody reads it. */
export type Message = string | (() => string);

export function typeOf(value: unknown, wanted: string): boolean {
  if (wanted === 'null') return value === null;
  if (wanted === 'array') return Array.isArray(value);
  if (wanted === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (wanted === 'integer') return Number.isInteger(value);
  if (wanted === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === wanted;
}

export function numberKeywords(schema: JsonSchema, value: number): Message[] {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf } = schema as Record<
    string,
    number | undefined
  >;
  const wrong: Message[] = [];
  if (maximum !== undefined && !(value <= maximum)) wrong.push(() => `must be <= ${maximum}`);
  if (exclusiveMaximum !== undefined && !(value < exclusiveMaximum))
    wrong.push(() => `must be < ${exclusiveMaximum}`);
  if (minimum !== undefined && !(value >= minimum)) wrong.push(() => `must be >= ${minimum}`);
  if (exclusiveMinimum !== undefined && !(value > exclusiveMinimum))
    wrong.push(() => `must be > ${exclusiveMinimum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    wrong.push(() => `must be multiple of ${multipleOf}`);
  return wrong;
}

export function textKeywords(schema: JsonSchema, value: string): Message[] {
  const { maxLength, minLength } = schema as Record<string, number | undefined>;
  const wrong: Message[] = [];
  // A character may take two places, so the length says enough only at one end.
  if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength)
    wrong.push(() => `must NOT have more than ${maxLength} characters`);
  if (minLength !== undefined && (value.length < minLength || lengthOf(value) < minLength))
    wrong.push(() => `must NOT have fewer than ${minLength} characters`);
  return wrong;
}

function lengthOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) as number) > 0xffff) pairs++;
  return text.length - pairs;
}
