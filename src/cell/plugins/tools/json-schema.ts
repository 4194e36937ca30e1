/** Checks values against JSON Schemas. Both sides do: the caller before it asks, the executor before it calls. */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { WorkcellError } from '../../../protocol/index.js';
import { withoutNulls } from './optional.js';

/** A JSON Schema, draft 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** One thing that is wrong with a value. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Checked = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: Issue[] };

/** The validator makes a program of a schema, so what it is made from is bounded. */
const largestSchema = { bytes: 65_536, depth: 48 } as const;

/** Throws for a schema that is too large to be used. */
export function boundSchema(schema: JsonSchema, what: string): void {
  const text = JSON.stringify(schema);
  if (text.length > largestSchema.bytes || depthOf(schema) > largestSchema.depth) {
    throw new WorkcellError(
      'invalid-tool',
      `${what} is too large: ${text.length} bytes of JSON Schema, ${depthOf(schema)} levels deep; at most ${largestSchema.bytes} and ${largestSchema.depth} are taken. Describe less, or take a string and check it yourself.`,
      { details: { sizeBytes: text.length, limitBytes: largestSchema.bytes } },
    );
  }
}

/** Makes a check of a schema. What is absent takes its default, and what is null though it may not be counts as absent. */
export async function compile(schema: JsonSchema, what: string): Promise<(value: unknown) => Checked> {
  boundSchema(schema, what);
  const ajv = await validator();
  try {
    const { $id: _, ...anonymous } = schema;
    const validate = ajv.compile(anonymous);
    return (given) => {
      const value = withoutNulls(given, schema);
      return validate(value) ? { value } : { issues: (validate.errors ?? []).map(toIssue) };
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('invalid-tool', `${what} is no JSON Schema: ${reason}.`, { cause });
  }
}

/** One line for all that is wrong: `path: message; path: message`. */
export function describe(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

let loaded: Promise<Ajv2020> | undefined;

function validator(): Promise<Ajv2020> {
  loaded ??= import('ajv/dist/2020.js').then(
    ({ Ajv2020: Validator }) =>
      new Validator({
        allErrors: true,
        useDefaults: true,
        strict: false,
        validateFormats: false,
        addUsedSchema: false,
        logger: false,
      }),
  );
  return loaded;
}

function toIssue({ instancePath, keyword, params, message }: ErrorObject): Issue {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required')
    return { path: [...path, String(params.missingProperty)], message: 'is missing' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params.additionalProperty ?? params.unevaluatedProperty;
    return { path: [...path, String(name)], message: 'is not a known parameter' };
  }
  const choices = keyword === 'enum' ? `: ${(params.allowedValues as unknown[]).join(', ')}` : '';
  return { path, message: `${message ?? keyword}${choices}` };
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const entry of Object.values(value)) deepest = Math.max(deepest, depthOf(entry));
  return deepest + 1;
}
