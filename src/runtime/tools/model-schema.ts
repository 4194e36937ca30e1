import type { JsonSchema } from '../../cell/plugins/tools/json-schema.js';
import { isSchema } from '../../cell/plugins/tools/optional.js';

/** Providers of models refuse these, and with them every tool of the request. */
const refused = new Set(['$schema', '$id', 'propertyNames']);

const schemaMaps = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
const opaque = new Set(['enum', 'default', 'examples', 'required']);

/** The schema in words that providers take. It may accept more: the tool itself checks its arguments. */
export function modelSchema(schema: JsonSchema): JsonSchema {
  const shown: Record<string, unknown> = {};
  const { exclusiveMinimum, exclusiveMaximum, oneOf, const: only, ...plain } = schema;
  for (const [keyword, value] of Object.entries(plain)) {
    if (opaque.has(keyword)) shown[keyword] = value;
    else if (schemaMaps.has(keyword) && isSchema(value))
      shown[keyword] = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
    else if (!refused.has(keyword)) shown[keyword] = inner(value);
  }
  if (typeof exclusiveMinimum === 'number') shown.minimum ??= inclusive(schema, exclusiveMinimum, 1);
  if (typeof exclusiveMaximum === 'number') shown.maximum ??= inclusive(schema, exclusiveMaximum, -1);
  if (oneOf !== undefined) shown.anyOf ??= inner(oneOf);
  if (only !== undefined) shown.enum ??= [only];
  return shown;
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner);
  return isSchema(value) ? modelSchema(value) : value;
}

function inclusive({ type }: JsonSchema, bound: number, step: 1 | -1): number {
  return type === 'integer' && Number.isInteger(bound) ? bound + step : bound;
}
