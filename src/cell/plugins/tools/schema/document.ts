/**
 * A JSON Schema after one look through it: each keyword has what it needs and each reference leads somewhere. Draft
 * 2020-12, and what earlier drafts wrote differently: `definitions`, `dependencies`, lists in `items`. Unknown
 * keywords say nothing, and so do `format` and `$schema`.
 */
import type { JsonSchema } from '../json-schema.js';
import { compilePattern, type TextTest } from './pattern.js';

export type Schema = JsonSchema | boolean;

export class SchemaDocument {
  readonly root: JsonSchema;
  readonly #patterns = new Map<string, TextTest>();
  /** For all patterns together. */
  readonly #room = { left: 20_000 };
  readonly #targets = new Map<string, Schema>();
  readonly #anchors = new Map<string, JsonSchema>();
  readonly #summaries = new Map<JsonSchema, Summary>();
  /** Whether a keyword asks for what no other keyword covers. */
  asksForRest = false;

  /** Throws a `SyntaxError` that names the problem and its place. */
  constructor(root: JsonSchema) {
    this.root = root;
    const seen = new Set<unknown>();
    const references = new Set<string>();
    this.#read(root, '#', { seen, references });
    for (const reference of references) {
      const target = this.#find(reference);
      this.#read(target, reference, { seen, references });
      this.#targets.set(reference, target as Schema);
    }
  }

  pattern(source: string): TextTest {
    return this.#patterns.get(source) as TextTest;
  }

  target(reference: string): Schema {
    return this.#targets.get(reference) as Schema;
  }

  summary(schema: JsonSchema): Summary {
    return this.#summaries.get(schema) as Summary;
  }

  #read(schema: unknown, place: string, known: Known): void {
    if (typeof schema === 'boolean' || known.seen.has(schema)) return;
    if (!isObject(schema)) throw new SyntaxError(`${place} is neither an object nor true or false`);
    known.seen.add(schema);
    if (schema.$id !== undefined && schema !== this.root)
      throw new SyntaxError(`${place} has an $id of its own, which is not supported`);
    for (const [keyword, given] of Object.entries(schema)) {
      const shape = Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined;
      if (shape === undefined) continue;
      if (!shape.fits(given)) throw new SyntaxError(`${place}/${keyword} must be ${shape.what}`);
      for (const [name, inner] of shape.schemas?.(given as never) ?? [])
        this.#read(inner, `${place}/${keyword}${name}`, known);
    }
    this.#note(schema, place, known);
    this.#summaries.set(schema, summarize(schema));
  }

  #note(schema: JsonSchema, place: string, { references }: Known): void {
    for (const keyword of ['$ref', '$dynamicRef'])
      if (schema[keyword] !== undefined) references.add(schema[keyword] as string);
    for (const keyword of ['$anchor', '$dynamicAnchor'])
      if (schema[keyword] !== undefined) this.#anchors.set(schema[keyword] as string, schema);
    if (schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined)
      this.asksForRest = true;
    const sources = Object.keys((schema.patternProperties as JsonSchema | undefined) ?? {});
    if (schema.pattern !== undefined) sources.push(schema.pattern as string);
    for (const source of sources) if (!this.#patterns.has(source)) this.#compile(source, place);
  }

  #compile(source: string, place: string): void {
    try {
      this.#patterns.set(source, compilePattern(source, this.#room));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new SyntaxError(`${place} has a pattern that cannot be used: ${reason}`, { cause });
    }
  }

  #find(reference: string): unknown {
    const anchor = within(this.root, reference)?.slice(1) ?? '';
    const target = this.#anchors.get(anchor) ?? pointedAt(this.root, reference);
    if (target === undefined) throw new SyntaxError(`the reference "${reference}" leads nowhere in it`);
    return target;
  }
}

/** What a check needs to know of a schema, collected because it visits each of them often. */
export interface Summary {
  readonly combines: boolean;
  readonly limitsNumbers: boolean;
  readonly limitsTexts: boolean;
  readonly limitsLists: boolean;
  readonly limitsObjects: boolean;
  /** The defaults of properties that an object lacks. */
  readonly defaults: readonly { readonly name: string; readonly json: string; readonly schema: Schema }[];
}

function summarize(schema: JsonSchema): Summary {
  const has = (keywords: readonly string[]) => keywords.some((keyword) => schema[keyword] !== undefined);
  const defaults = Object.entries((schema.properties as JsonSchema | undefined) ?? {}).flatMap(
    ([name, property]) => {
      const given = isObject(property) ? property.default : undefined;
      return given === undefined
        ? []
        : [{ name, json: JSON.stringify(given), schema: property as JsonSchema }];
    },
  );
  return {
    combines: has(['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if']),
    limitsNumbers: has(['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'multipleOf']),
    limitsTexts: has(['maxLength', 'minLength', 'pattern']),
    limitsLists: has(listKeywords),
    limitsObjects: has(objectKeywords),
    defaults,
  };
}

const listKeywords = [
  'maxItems',
  'minItems',
  'uniqueItems',
  'contains',
  'prefixItems',
  'items',
  'unevaluatedItems',
];

const objectKeywords = ['maxProperties', 'minProperties', 'required', 'dependentRequired', 'dependentSchemas']
  .concat(['dependencies', 'properties', 'patternProperties', 'additionalProperties'])
  .concat(['unevaluatedProperties', 'propertyNames']);

interface Known {
  readonly seen: Set<unknown>;
  readonly references: Set<string>;
}

const known = new WeakMap<object, Map<string, unknown>>();

/**
 * The target of a reference within a schema: `#`, or `#/` and the steps to it, perhaps behind its own `$id`. Looks it
 * up once.
 */
export function pointedAt(root: unknown, reference: string): unknown {
  if (typeof root !== 'object' || root === null) return undefined;
  const found = known.get(root) ?? new Map<string, unknown>();
  known.set(root, found);
  if (!found.has(reference)) found.set(reference, walk(root, reference));
  return found.get(reference);
}

function walk(root: object, reference: string): unknown {
  const local = within(root, reference);
  if (local === undefined || !/^#(?:\/|$)/.test(local)) return undefined;
  let place: unknown = root;
  for (const step of decode(local).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const isInside = typeof place === 'object' && place !== null && Object.hasOwn(place, name);
    place = isInside ? (place as JsonSchema)[name] : undefined;
  }
  return place;
}

/** The part from `#` on of a reference to this document: one without a name, or with the name in its `$id`. */
function within(root: object, reference: string): string | undefined {
  const [named = '', local = ''] = reference.split(/(?=#)/);
  if (reference.startsWith('#')) return reference;
  const { $id } = root as JsonSchema;
  if (typeof $id !== 'string') return undefined;
  try {
    // An `$id` may itself be relative.
    const home = new URL($id, 'schema://here/');
    home.hash = '';
    return new URL(named, home).href === home.href ? local || '#' : undefined;
  } catch {
    return undefined;
  }
}

function decode(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

interface Shape {
  readonly what: string;
  readonly fits: (given: unknown) => boolean;
  /** The schemas in it, each with the rest of its place. */
  readonly schemas?: (given: never) => [string, unknown][];
}

const isText = (given: unknown) => typeof given === 'string';
const isCount = (given: unknown) => Number.isInteger(given) && (given as number) >= 0;
const isTexts = (given: unknown) => Array.isArray(given) && given.every(isText);

const number: Shape = { what: 'a number', fits: (given) => typeof given === 'number' };
const count: Shape = { what: 'a whole number, 0 or more', fits: isCount };
const text: Shape = { what: 'a text', fits: isText };
const texts: Shape = { what: 'a list of texts', fits: isTexts };
const flag: Shape = { what: 'true or false', fits: (given) => typeof given === 'boolean' };
const schema: Shape = { what: 'a schema', fits: isSchema, schemas: (given) => [['', given]] };
const schemaList: Shape = {
  what: 'a list of schemas, not empty',
  fits: (given) => Array.isArray(given) && given.length > 0,
  schemas: (given: unknown[]) => given.map((inner, index) => [`/${index}`, inner]),
};
const schemaMap: Shape = {
  what: 'an object with schemas',
  fits: isObject,
  schemas: (given: object) => Object.entries(given).map(([name, inner]) => [`/${name}`, inner]),
};

const types = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const shapes: Readonly<Record<string, Shape>> = {
  $ref: text,
  $dynamicRef: text,
  $anchor: text,
  $dynamicAnchor: text,
  $defs: schemaMap,
  definitions: schemaMap,
  type: {
    what: `one or several of ${types.join(', ')}`,
    fits: (given) => [given].flat().every((type) => types.includes(type as string)),
  },
  nullable: flag,
  enum: { what: 'a list', fits: Array.isArray },
  multipleOf: { what: 'a number above 0', fits: (given) => typeof given === 'number' && given > 0 },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  contains: schema,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: texts,
  dependentRequired: {
    what: 'an object with lists of texts',
    fits: (given) => isObject(given) && Object.values(given).every(isTexts),
  },
  dependentSchemas: schemaMap,
  dependencies: {
    what: 'an object with schemas or lists of texts',
    fits: (given) => isObject(given) && Object.values(given).every((one) => isTexts(one) || isSchema(one)),
    schemas: (given: object) =>
      Object.entries(given)
        .filter(([, inner]) => !Array.isArray(inner))
        .map(([name, inner]) => [`/${name}`, inner]),
  },
  properties: schemaMap,
  patternProperties: schemaMap,
  additionalProperties: schema,
  unevaluatedProperties: schema,
  propertyNames: schema,
  prefixItems: schemaList,
  items: {
    what: 'a schema or a list of schemas',
    fits: (given) => isSchema(given) || Array.isArray(given),
    schemas: (given: unknown) =>
      Array.isArray(given) ? given.map((inner, index) => [`/${index}`, inner]) : [['', given]],
  },
  additionalItems: schema,
  unevaluatedItems: schema,
  allOf: schemaList,
  anyOf: schemaList,
  oneOf: schemaList,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
};

function isObject(given: unknown): given is JsonSchema {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

function isSchema(given: unknown): given is Schema {
  return typeof given === 'boolean' || isObject(given);
}
