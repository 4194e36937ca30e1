/** Keywords about numbers and texts, with messages in the words that validators use. */
import type { JsonSchema } from '../json-schema.js';

/** Builds the text only when somebody reads it. */
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
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    wrong.push(() => `must be multiple of ${multipleOf}`);
  return wrong;
}

/** Computes in decimal, as both are written: 19.99 is a multiple of 0.01, but not as a binary fraction. */
function isMultiple(value: number, of: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  if (!Number.isFinite(value) || !Number.isFinite(of)) return false;
  const [digits, exponent] = decimal(value);
  const [unit, unitExponent] = decimal(of);
  const least = Math.min(exponent, unitExponent);
  const scaled = (number: bigint, by: number) => number * 10n ** BigInt(by - least);
  return scaled(digits, exponent) % scaled(unit, unitExponent) === 0n;
}

/** All digits of a number, and the power of ten to multiply them by. */
function decimal(number: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
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
