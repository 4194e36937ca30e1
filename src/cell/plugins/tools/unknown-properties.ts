/** Finds what a value has and its schema does not know. A schema that allows more says so. */
import type { Issue, JsonSchema } from './json-schema.js';
import { follow, isSchema } from './optional.js';

/** Keywords that say something about properties that are not named. */
const openers = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames'];
/** Keywords whose schemas hold for the same value. */
const combiners = ['allOf', 'anyOf', 'oneOf'] as const;
const deepest = 64;

export function unknownProperties(value: unknown, schema: unknown, root: unknown = schema): Issue[] {
  return search(value, isSchema(schema) ? [schema] : [], root, []);
}

/** `schemas` all say something about the value. */
function search(value: unknown, schemas: JsonSchema[], root: unknown, path: (string | number)[]): Issue[] {
  if (typeof value !== 'object' || value === null || path.length > deepest) return [];
  const all = schemas.flatMap((schema) => unfold(schema, root, 0));
  if (Array.isArray(value)) {
    const items = all.map((schema) => schema.items).filter(isSchema);
    return items.length === 0
      ? []
      : value.flatMap((entry, index) => search(entry, items, root, [...path, index]));
  }
  const known = all.map(({ properties }) => properties).filter(isSchema);
  const isOpen = known.length === 0 || all.some((schema) => openers.some((opener) => opener in schema));
  return Object.entries(value).flatMap(([name, entry]) => {
    const inner = known.filter((properties) => Object.hasOwn(properties, name)).map((named) => named[name]);
    if (inner.length === 0 && !isOpen)
      return [{ path: [...path, name], message: 'is not a known parameter' }];
    return search(entry, inner.filter(isSchema), root, [...path, name]);
  });
}

/** A schema with all that its references and combinations say about the same value. */
function unfold(schema: JsonSchema, root: unknown, depth: number): JsonSchema[] {
  if (depth > deepest) return [];
  const target = follow(schema, root);
  const combined = combiners.flatMap((name) => {
    const choices = target[name];
    return Array.isArray(choices) ? choices.filter(isSchema) : [];
  });
  const conditional = [target.then, target.else].filter(isSchema);
  return [target, ...[...combined, ...conditional].flatMap((choice) => unfold(choice, root, depth + 1))];
}
