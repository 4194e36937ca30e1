import type { JsonSchema } from './json-schema.js';

/**
 * Leaves out what is null though it may only be absent, so that it takes its default: models that must name every
 * parameter write null for those they do not use.
 */
export function withoutNulls(value: unknown, schema: JsonSchema, root: JsonSchema = schema): unknown {
  const resolved = follow(schema, root);
  if (Array.isArray(value)) {
    const { items } = resolved;
    return isSchema(items) ? value.map((item) => withoutNulls(item, items, root)) : value;
  }
  const { properties } = resolved;
  if (typeof value !== 'object' || value === null || !isSchema(properties)) return value;
  const required = Array.isArray(resolved.required) ? resolved.required : [];
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!isSchema(property)) return [[name, entry]];
      if (entry === null && !required.includes(name) && !acceptsNull(property, root)) return [];
      return [[name, withoutNulls(entry, property, root)]];
    }),
  );
}

export function acceptsNull(schema: JsonSchema, root: JsonSchema): boolean {
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
function follow(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return schema;
  let place: unknown = root;
  for (const step of $ref.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    place = isSchema(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return isSchema(place) && place !== schema ? place : schema;
}
