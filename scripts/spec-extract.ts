/**
 * Prints what tests need of a vendor's specification: `npx tsx scripts/spec-extract.ts FILE 'POST /sandbox' …`. FILE is an OpenAPI
 * document. Texts and examples stay behind, and each object takes the properties that the document names, and no others.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

type Json = { readonly [name: string]: unknown };

/** Keywords that say what a value is. */
const kept = new Set([
  'type',
  'format',
  'enum',
  'nullable',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
]);
const inner = ['items', 'additionalProperties'];
const several = ['allOf', 'oneOf', 'anyOf'];

const [file = '', ...operations] = process.argv.slice(2);
const document = parse(readFileSync(file, 'utf8')) as Json;
const definitions: Record<string, unknown> = {};

const found = operations.map((operation) => [operation, operationOf(operation)]);
const sorted = Object.entries(definitions).sort(([one], [other]) => (one < other ? -1 : 1));
const extract = { operations: Object.fromEntries(found), definitions: Object.fromEntries(sorted) };
process.stdout.write(`${JSON.stringify(extract, null, 2)}\n`);

function operationOf(operation: string): Json {
  const [method = '', path = ''] = operation.split(' ');
  const paths = document.paths as Record<string, Json | undefined>;
  const item = paths[path];
  const described = item?.[method.toLowerCase()] as Json | undefined;
  if (described === undefined) throw new Error(`${file} has no ${operation}.`);
  const parameters = [...listOf(item?.parameters), ...listOf(described.parameters)].map(resolved);
  const query = parameters.filter((one) => one.in === 'query').map((one) => String(one.name));
  const body = contentOf(described.requestBody);
  const answers = Object.entries(described.responses as Json).map(([status, answer]) => [
    status,
    contentOf(answer) ?? null,
  ]);
  return { query, ...(body !== undefined && { body }), answers: Object.fromEntries(answers) };
}

function contentOf(described: unknown): Json | undefined {
  const content = (resolved(described).content ?? {}) as Record<string, { schema?: unknown } | undefined>;
  const json = content['application/json']?.schema;
  return json === undefined ? undefined : schemaOf(json);
}

function schemaOf(given: unknown, isPart = false): Json {
  if (given === null || typeof given !== 'object') return given as Json;
  const schema = given as Json;
  if (typeof schema.$ref === 'string') return { $ref: `#/definitions/${define(schema.$ref)}` };
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (kept.has(key)) return [[key, value]];
    if (inner.includes(key)) return [[key, schemaOf(value)]];
    if (several.includes(key)) return [[key, listOf(value).map((one) => schemaOf(one, true))]];
    if (key !== 'properties') return [];
    const properties = Object.entries(value as Json).map(([name, one]) => [name, schemaOf(one)]);
    return [[key, Object.fromEntries(properties)]];
  });
  const isClosed = !isPart && 'properties' in schema && !('additionalProperties' in schema);
  return { ...Object.fromEntries(entries), ...(isClosed && { additionalProperties: false }) };
}

function define(reference: string): string {
  const name = reference.split('/').at(-1) ?? '';
  if (!(name in definitions)) {
    definitions[name] = {};
    definitions[name] = schemaOf(at(reference));
  }
  return name;
}

function resolved(given: unknown): Json {
  const { $ref } = (given ?? {}) as { $ref?: string };
  return ($ref === undefined ? (given ?? {}) : at($ref)) as Json;
}

function at(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((place, name) => (place as Json)[name], document);
}

function listOf(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [];
}
