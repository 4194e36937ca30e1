/** Tools in the form that models take. */
import type { JsonSchema } from '../../cell/plugins/tools/json-schema.js';
import { acceptsNull, isSchema } from '../../cell/plugins/tools/optional.js';
import type { FunctionTool } from './function-tool.js';
import { modelSchema } from './model-schema.js';

/** A tool in the form that OpenAI-compatible APIs take. */
export interface OpenaiTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
    readonly strict?: boolean;
  };
}

/**
 * The tool in the form of OpenAI's chat completions. With `strict`, every parameter is required and optional ones
 * take null. A schema that cannot be strict, because it takes any key, stays as it is.
 */
export function openaiTool(
  { name, description, parameters }: Pick<FunctionTool, 'name' | 'description' | 'parameters'>,
  { strict = false }: { strict?: boolean } = {},
): OpenaiTool {
  const shown = modelSchema(parameters);
  const narrowed = strict ? strictSchema(shown) : undefined;
  const about = { name, description: shortened(description) };
  return {
    type: 'function',
    function:
      narrowed === undefined
        ? { ...about, parameters: shown }
        : { ...about, parameters: narrowed, strict: true },
  };
}

/** OpenAI refuses more, and a documented Python function often has more. */
const longestDescription = 1024;

function shortened(description: string): string {
  if (description.length <= longestDescription) return description;
  return `${description.slice(0, longestDescription - 1).trimEnd()}…`;
}

/** The schema with every property required and no other allowed; undefined where that would change its meaning. */
function strictSchema(schema: JsonSchema, root: JsonSchema = schema): JsonSchema | undefined {
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (dropped.has(keyword)) continue;
    const part = strictPart(keyword, value, root);
    if (part === undefined) return undefined;
    strict[keyword] = part.value;
  }
  if (schema.type !== 'object') return strict;
  const properties = isSchema(schema.properties) ? schema.properties : {};
  if (isOpen(schema, properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const narrowed: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const part = isSchema(property) ? strictSchema(property, root) : undefined;
    if (part === undefined) return undefined;
    narrowed[name] = required.includes(name) || acceptsNull(part, root) ? part : orNull(part);
  }
  return { ...strict, properties: narrowed, required: Object.keys(narrowed), additionalProperties: false };
}

/** Keywords that a strict schema does not know. Defaults still hold: a null parameter takes its own. */
const dropped = new Set(['default', 'properties', 'required', 'additionalProperties']);

/** Strict schemas cannot say these, and leaving them out would change the meaning. */
const unknownToStrict = new Set(
  'allOf not if then else patternProperties dependentRequired dependentSchemas'.split(' '),
);

function strictPart(keyword: string, value: unknown, root: JsonSchema): { value: unknown } | undefined {
  if (unknownToStrict.has(keyword)) return undefined;
  if (keyword === 'items' && isSchema(value)) return wrap(strictSchema(value, root));
  if (keyword === 'anyOf' && Array.isArray(value))
    return all(value.map((choice) => (isSchema(choice) ? strictSchema(choice, root) : undefined)));
  if (keyword === '$defs' && isSchema(value)) {
    const parts = Object.entries(value).map(
      ([name, part]) => [name, isSchema(part) ? strictSchema(part, root) : undefined] as const,
    );
    return parts.some(([, part]) => part === undefined) ? undefined : { value: Object.fromEntries(parts) };
  }
  return { value };
}

function wrap(value: unknown): { value: unknown } | undefined {
  return value === undefined ? undefined : { value };
}

function all(values: readonly unknown[]): { value: unknown } | undefined {
  return values.includes(undefined) ? undefined : { value: values };
}

/** An object with unnamed keys. */
function isOpen({ additionalProperties }: JsonSchema, properties: JsonSchema): boolean {
  if (isSchema(additionalProperties) || additionalProperties === true) return true;
  return additionalProperties === undefined && Object.keys(properties).length === 0;
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, description } = schema;
  if (typeof type === 'string' && values === undefined) return { ...schema, type: [type, 'null'] };
  const { description: _, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}
