/** Checks values against JSON Schemas. Both sides do: the caller before it asks, the executor before it calls. */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { TookTooLong, withinMs } from '../../../base/within-ms.js';
import { WorkcellError } from '../../../protocol/index.js';
import { withoutNulls } from './optional.js';
import { unknownProperties } from './unknown-properties.js';

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

/** How long a schema may take to become a check, and a value to be checked. */
const compileMs = 2000;
const checkMs = 100;

const mostIssues = 100;

/** Keywords whose check takes longer than the value is long, as a pattern that tries all ways to match does. */
const dear = /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef|anyOf|oneOf|contains)":/;

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

/**
 * Makes a check of a schema. What is absent takes its default, what is null though it may not be counts as absent, and
 * what a strict check does not find in the schema is refused unless that allows more. Schemas and values come from anywhere, an MCP server
 * included, so neither may take long.
 */
export async function compile(
  schema: JsonSchema,
  what: string,
  strict: boolean,
): Promise<(value: unknown) => Checked> {
  boundSchema(schema, what);
  const ajv = await validator();
  try {
    const { $id: _, ...anonymous } = schema;
    const validate = withinMs(compileMs, () => ajv.compile(anonymous));
    const check = (given: unknown): Checked => {
      const value = withoutNulls(given, schema);
      const unknown = strict ? unknownProperties(value, schema) : [];
      if (validate(value) && unknown.length === 0) return { value };
      return { issues: distinct([...unknown, ...(validate.errors ?? []).map(toIssue)]) };
    };
    return dear.test(JSON.stringify(schema)) ? (given) => inTime(check, given) : check;
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

function inTime(check: (value: unknown) => Checked, given: unknown): Checked {
  try {
    return withinMs(checkMs, () => check(given));
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const message = `takes more than ${checkMs} ms to check; its schema has a pattern or a choice that tries too many ways`;
    return { issues: [{ path: [], message }] };
  }
}

/** The schema itself may say the same about a property. */
function distinct(issues: readonly Issue[]): Issue[] {
  const seen = new Map(issues.map((issue) => [JSON.stringify(issue), issue]));
  return [...seen.values()].slice(0, mostIssues);
}

let loaded: Promise<Ajv2020> | undefined;

function validator(): Promise<Ajv2020> {
  loaded ??= import('ajv/dist/2020.js').then(({ Ajv2020: Validator }) => {
    const ajv = new Validator({
      allErrors: true,
      useDefaults: true,
      strict: false,
      validateFormats: false,
      addUsedSchema: false,
      logger: false,
    });
    // The first one takes the time of the schema of schemas, which is nobody's fault.
    ajv.compile({});
    return ajv;
  });
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
