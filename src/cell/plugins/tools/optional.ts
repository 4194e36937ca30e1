import type { JsonSchema } from './json-schema.js';

/**
 * A copy without what is null though it may only be absent, so that it takes its default: models that must name every
 * parameter write null for those they do not use.
 */
export function withoutNulls(value: unknown, schema: unknown, root: unknown = schema): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { items, properties, required } = isSchema(schema) ? follow(schema, root) : {};
  if (Array.isArray(value)) return value.map((entry) => withoutNulls(entry, items, root));
  const copy: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    const property = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const mayBeAbsent = !Array.isArray(required) || !required.includes(name);
    if (entry === null && mayBeAbsent && isSchema(property) && !acceptsNull(property, root)) continue;
    Object.defineProperty(copy, name, {
      value: withoutNulls(entry, property, root),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copy;
}

export function acceptsNull(schema: JsonSchema, root: unknown): boolean {
  const { type, enum: values, const: only, anyOf, oneOf } = follow(schema, root);
  if (only !== undefined) return only === null;
  if (Array.isArray(values)) return values.includes(null);
  if (type !== undefined) return Array.isArray(type) ? type.includes('null') : type === 'null';
  const choices = anyOf ?? oneOf;
  return !Array.isArray(choices) || choices.some((choice) => isSchema(choice) && acceptsNull(choice, root));
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A reference within the same schema leads to the part that it names; any other is left as it is. */
export function follow(schema: JsonSchema, root: unknown): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return schema;
  let place: unknown = root;
  for (const step of $ref.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    place = isSchema(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return isSchema(place) && place !== schema ? place : schema;
}
