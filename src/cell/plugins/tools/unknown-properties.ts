/** Finds properties that the schema of a value does not name. A schema that allows more says so. */
import type { Issue, JsonSchema } from './json-schema.js';
import { follow, isSchema } from './optional.js';
import { ownWork, type Work } from './schema/work.js';

/** Keywords that say something about unnamed properties. */
const openers = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames'];
/** Keywords whose schemas hold for the same value. */
const combiners = ['allOf', 'anyOf', 'oneOf'] as const;
const deepest = 64;

/** `work`: the steps that it may take. It looks through a foreign schema for each value. */
export function unknownProperties(value: unknown, schema: unknown, work = ownWork): Issue[] {
  return search(value, isSchema(schema) ? [schema] : [], { root: schema, work, path: [] });
}

interface Place {
  readonly root: unknown;
  readonly work: Work;
  readonly path: readonly (string | number)[];
}

/** `schemas` all say something about the value. */
function search(value: unknown, schemas: readonly JsonSchema[], place: Place): Issue[] {
  const { root, work, path } = place;
  if (typeof value !== 'object' || value === null || path.length > deepest) return [];
  const all = unfold(schemas, root, work);
  const inside = (step: string | number): Place => ({ root, work, path: [...path, step] });
  if (Array.isArray(value)) {
    const items = all.map((schema) => schema.items).filter(isSchema);
    return items.length === 0 ? [] : value.flatMap((entry, index) => search(entry, items, inside(index)));
  }
  const known = all.map(({ properties }) => properties).filter(isSchema);
  const isOpen = known.length === 0 || all.some((schema) => openers.some((opener) => opener in schema));
  return Object.entries(value).flatMap(([name, entry]) => {
    work.spend(1 + known.length);
    const inner = known.filter((properties) => Object.hasOwn(properties, name)).map((named) => named[name]);
    if (inner.length === 0 && !isOpen)
      return [{ path: [...path, name], message: 'is not a known parameter' }];
    return search(entry, inner.filter(isSchema), inside(name));
  });
}

/** Schemas with all that their references and combinations say about the same value. */
function unfold(schemas: readonly JsonSchema[], root: unknown, work: Work): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const waiting = [...schemas];
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    work.spend();
    const target = follow(schema, root);
    if (found.has(target)) continue;
    found.add(target);
    for (const name of combiners) waiting.push(...schemasOf(target[name]));
    waiting.push(...[target.then, target.else].filter(isSchema));
  }
  return [...found];
}

function schemasOf(choices: unknown): JsonSchema[] {
  return Array.isArray(choices) ? choices.filter(isSchema) : [];
}
