import type { JsonSchema } from './json-schema.js';
import { pointedAt } from './schema/document.js';
import { ownWork, TooMuchWork, type Work } from './schema/work.js';

/** All code that walks through a value uses recursion. */
const deepest = 500;
const stepsForEach = 8;

/**
 * A copy without nulls that the schema does not allow, so that those values take their defaults: models that must
 * name every parameter write null for those they do not use.
 */
export function withoutNulls(value: unknown, schema: unknown, work = ownWork): unknown {
  return copy(value, schema, { root: schema, work, depth: 0 });
}

interface Place {
  readonly root: unknown;
  readonly work: Work;
  readonly depth: number;
}

function copy(value: unknown, schema: unknown, place: Place): unknown {
  // The sender chose the size of the value, and honest schemas take a few steps for each part.
  place.work.allow(typeof value === 'string' ? stepsForEach + value.length / 4 : stepsForEach);
  if (typeof value !== 'object' || value === null) return value;
  if (place.depth === deepest) throw new TooMuchWork(`has more than ${deepest} levels`);
  const inner = { ...place, depth: place.depth + 1 };
  const { items, properties, required } = isSchema(schema) ? follow(schema, place.root) : {};
  if (Array.isArray(value)) return value.map((entry) => copy(entry, items, inner));
  const copied: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    const property = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (entry === null && isSchema(property) && isOptional(name, required, place.work)) {
      if (!acceptsNull(property, place.root, place.work)) continue;
    }
    Object.defineProperty(copied, name, {
      value: copy(entry, property, inner),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copied;
}

function isOptional(name: string, required: unknown, work: Work): boolean {
  return !Array.isArray(required) || !includes(required, name, work);
}

function includes(list: readonly unknown[], wanted: unknown, work: Work): boolean {
  work.spend(list.length >> 2);
  return list.includes(wanted);
}

export function acceptsNull(schema: JsonSchema, root: unknown, work = ownWork): boolean {
  return takesNull(schema, { root, work, seen: new Set() });
}

interface Looking {
  readonly root: unknown;
  readonly work: Work;
  readonly seen: Set<JsonSchema>;
}

function takesNull(schema: JsonSchema, looking: Looking): boolean {
  looking.work.spend();
  const target = follow(schema, looking.root);
  if (looking.seen.has(target)) return false;
  looking.seen.add(target);
  const { type, enum: values, const: only, anyOf, oneOf } = target;
  if (only !== undefined) return only === null;
  if (Array.isArray(values)) return includes(values, null, looking.work);
  if (Array.isArray(type)) return includes(type, 'null', looking.work);
  if (type !== undefined) return type === 'null';
  const choices = anyOf ?? oneOf;
  return !Array.isArray(choices) || choices.some((choice) => isSchema(choice) && takesNull(choice, looking));
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows a reference within the same schema; leaves any other as it is. */
export function follow(schema: JsonSchema, root: unknown): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  const target = pointedAt(root, $ref);
  return isSchema(target) ? target : schema;
}
