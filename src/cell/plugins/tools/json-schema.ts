/** Checks values against JSON Schemas. Both sides do: the caller before it asks, the executor before it calls. */
import { WorkcellError } from '../../../protocol/index.js';
import { withoutNulls } from './optional.js';
import { stepsOf } from './schema/canonical.js';
import { findIssues } from './schema/check.js';
import { fillDefaults } from './schema/defaults.js';
import { SchemaDocument } from './schema/document.js';
import { TooMuchWork, Work } from './schema/work.js';
import { unknownProperties } from './unknown-properties.js';

/** A JSON Schema, draft 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** One problem of a value. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Checked = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: Issue[] };

/** The largest schema to read, before anything else uses it. */
const largestSchema = { bytes: 65_536, depth: 48 } as const;

/** They take about 10 ms. A large value adds to that. */
const mostSteps = 15_000;
const mostIssues = 100;

/** Throws for a schema that is too large. */
export function boundSchema(schema: JsonSchema, what: string): void {
  const depth = depthOf(schema);
  const bytes = depth > largestSchema.depth ? 0 : JSON.stringify(schema).length;
  if (bytes <= largestSchema.bytes && depth <= largestSchema.depth) return;
  const size = depth > largestSchema.depth ? `more than ${largestSchema.depth} levels` : `${bytes} bytes`;
  throw new WorkcellError(
    'invalid-tool',
    `${what} is too large: ${size} of JSON Schema; at most ${largestSchema.bytes} bytes and ${largestSchema.depth} levels are taken. Describe less, or take a string and check it yourself.`,
    { details: { sizeBytes: bytes, limitBytes: largestSchema.bytes } },
  );
}

/**
 * Makes a check from a schema. An absent value takes its default, and a null where the schema allows none counts as
 * absent. A strict check refuses properties that the schema does not name unless the schema allows more. Schemas and
 * values come from anywhere, an MCP server included, so a check ends after a number of steps, with an issue that says
 * so.
 */
export function compile(schema: JsonSchema, what: string, strict: boolean): (value: unknown) => Checked {
  boundSchema(schema, what);
  const document = read(schema, what);
  return (given) =>
    withinBounds(() => {
      const work = new Work(mostSteps);
      const value = withoutNulls(given, schema, work);
      const unknown = strict ? unknownProperties(value, schema, work) : [];
      const { issues: found, absent } = findIssues(document, value, work);
      const issues = distinct([...unknown.slice(0, mostIssues), ...found], work);
      if (issues.length > 0) return { issues };
      fillDefaults(document, value, absent, work);
      return { value };
    });
}

/** A value does not fit when its check cannot finish. */
export function withinBounds(check: () => Checked): Checked {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return { issues: [{ path: [], message: error.message }] };
  }
}

function read(schema: JsonSchema, what: string): SchemaDocument {
  try {
    return new SchemaDocument(schema);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new WorkcellError('invalid-tool', `${what} is no JSON Schema: ${cause.message}.`, { cause });
  }
}

/** One line for all problems: `path: message; path: message`. */
export function describe(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/** The schema itself may say the same about a property. */
function distinct(issues: readonly Issue[], work: Work): Issue[] {
  for (const { path, message } of issues)
    for (const text of [...path, message]) work.spend(stepsOf(String(text)));
  const seen = new Map(issues.map((issue) => [JSON.stringify(issue), issue]));
  return [...seen.values()].slice(0, mostIssues);
}

/** Stops at the depth limit. */
function depthOf(value: unknown, outer = 0): number {
  if (typeof value !== 'object' || value === null || outer > largestSchema.depth) return 0;
  let deepest = 0;
  for (const entry of Object.values(value)) deepest = Math.max(deepest, depthOf(entry, outer + 1));
  return deepest + 1;
}
