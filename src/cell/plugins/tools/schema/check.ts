/**
 * Checks a value against a JSON Schema, keyword by keyword, and counts its steps. It does not compile the schema,
 * because the author of a schema decides how long compiling takes.
 */
import type { Issue, JsonSchema } from '../json-schema.js';
import { canonical, stepsOf } from './canonical.js';
import type { Schema, SchemaDocument, Summary } from './document.js';
import { Evaluated } from './evaluated.js';
import { type Message, numberKeywords, textKeywords, typeOf } from './scalars.js';
import { TooMuchWork, type Work } from './work.js';

/** How deep checks of schemas within each other nest, each a call within the previous one. */
const deepest = 1000;
const mostIssues = 100;
const longestList = 500;

/** A property that a value lacks and its schema has a default for. */
export interface Absent {
  readonly at: Value;
  readonly name: string;
  readonly json: string;
  readonly schema: Schema;
  /** True when only a choice that fits has it. */
  readonly chosen: boolean;
}

/** What is wrong with a value as the caller sent it, and what it lacks. */
export function findIssues(
  document: SchemaDocument,
  value: unknown,
  work: Work,
  schema: Schema = document.root,
): { issues: Issue[]; absent: Absent[] } {
  const check = new Check(document, work);
  check.visit(schema, value, undefined);
  return { issues: check.issues, absent: check.absent };
}

const references = ['$ref', '$dynamicRef'] as const;

type Value = Record<string, unknown>;

class Check {
  readonly issues: Issue[] = [];
  readonly #document: SchemaDocument;
  readonly #work: Work;
  readonly #path: string[] = [];
  readonly absent: Absent[] = [];
  /** The same by value and name. */
  readonly #absentFrom = new Map<Value, Map<string, Absent>>();
  #depth = 0;
  /** How many choices surround this place, and how many schemas that decide by the sent value alone. */
  #choices = 0;
  #decisions = 0;

  constructor(document: SchemaDocument, work: Work) {
    this.#document = document;
    this.#work = work;
  }

  /** Whether the value fits. If it does, adds to `evaluated` what this schema covered. */
  visit(schema: Schema, value: unknown, evaluated: Evaluated | undefined): boolean {
    this.#work.spend();
    if (schema === true) return true;
    if (schema === false) return this.#fail('boolean schema is false');
    if (++this.#depth > deepest)
      throw new TooMuchWork(`nests too deep, or its schema refers to itself; ${deepest} levels are checked`);
    // Take notes only if a keyword needs them.
    const own = this.#document.asksForRest ? new Evaluated() : undefined;
    const summary = this.#document.summary(schema);
    let fits = this.#sameValue(schema, value, { summary, own });
    if (typeof value === 'string') {
      if (summary.limitsTexts && !this.#text(schema, value)) fits = false;
    } else if (typeof value === 'number') {
      if (summary.limitsNumbers && !this.#all(numberKeywords(schema, value))) fits = false;
    } else if (Array.isArray(value)) {
      if (summary.limitsLists && !this.#list(schema, value, own)) fits = false;
    } else if (typeof value === 'object' && value !== null) {
      if (summary.limitsObjects && !this.#object(schema, value as Value, own)) fits = false;
    }
    this.#depth--;
    if (fits && own !== undefined) evaluated?.take(own, this.#work);
    return fits;
  }

  /** Notes absent values first, because other keywords need them. */
  #sameValue(
    schema: JsonSchema,
    value: unknown,
    { summary, own }: { readonly summary: Summary; readonly own: Evaluated | undefined },
  ): boolean {
    if (summary.defaults.length > 0 && typeof value === 'object' && value !== null)
      this.#noteAbsent(summary, value as Value);
    const fits = !summary.combines || this.#combined(schema, value, own);
    return this.#generic(schema, value) && fits;
  }

  #combined(schema: JsonSchema, value: unknown, own: Evaluated | undefined): boolean {
    let fits = true;
    for (const keyword of references) {
      const reference = schema[keyword] as string | undefined;
      if (reference === undefined) continue;
      this.#work.spend(stepsOf(reference));
      if (!this.visit(this.#document.target(reference), value, own)) fits = false;
    }
    for (const part of schemasOf(schema.allOf)) if (!this.visit(part, value, own)) fits = false;
    if (schema.anyOf !== undefined && !this.#choice(schemasOf(schema.anyOf), value, own))
      fits = this.#fail('must match a schema in anyOf');
    if (schema.oneOf !== undefined && !this.#exactlyOne(schemasOf(schema.oneOf), value, own)) fits = false;
    if (schema.not !== undefined && this.#tries(schema.not as Schema, value, undefined))
      fits = this.#fail('must NOT be valid');
    if (schema.if !== undefined && !this.#conditional(schema, value, own)) fits = false;
    return fits;
  }

  /** Checks all choices where a keyword needs to know what each of them covered. */
  #choice(choices: readonly Schema[], value: unknown, own: Evaluated | undefined): boolean {
    const before = this.issues.length;
    let fits = false;
    for (const choice of choices) {
      if (fits && !this.#document.asksForRest) break;
      if (this.#takes(choice, value, own)) fits = true;
    }
    if (fits) this.issues.length = before;
    return fits;
  }

  #exactlyOne(choices: readonly Schema[], value: unknown, own: Evaluated | undefined): boolean {
    const before = this.issues.length;
    let fitting = 0;
    for (const choice of choices) {
      this.#decisions++;
      if (fitting === 0 ? this.#takes(choice, value, own) : this.#tries(choice, value, undefined)) fitting++;
      this.#decisions--;
      if (fitting > 1) break;
    }
    if (fitting > 0) this.issues.length = before;
    return fitting === 1 || this.#fail('must match exactly one schema in oneOf');
  }

  #conditional(schema: JsonSchema, value: unknown, own: Evaluated | undefined): boolean {
    const keyword = this.#tries(schema.if as Schema, value, own) ? 'then' : 'else';
    const next = schema[keyword] as Schema | undefined;
    if (next === undefined || this.visit(next, value, own)) return true;
    return this.#fail(`must match "${keyword}" schema`);
  }

  /** A choice that does not fit leaves its issues, and no absent values. */
  #takes(schema: Schema, value: unknown, own: Evaluated | undefined): boolean {
    const before = this.absent.length;
    this.#choices++;
    const fits = this.visit(schema, value, own);
    this.#choices--;
    if (!fits) this.#forget(before);
    return fits;
  }

  /** Leaves nothing. */
  #tries(schema: Schema, value: unknown, own: Evaluated | undefined): boolean {
    const [issues, absent] = [this.issues.length, this.absent.length];
    this.#decisions++;
    const fits = this.visit(schema, value, own);
    this.#decisions--;
    this.issues.length = issues;
    this.#forget(absent);
    return fits;
  }

  #forget(length: number): void {
    for (const { at, name } of this.absent.splice(length)) this.#absentFrom.get(at)?.delete(name);
  }

  #noteAbsent({ defaults }: Summary, value: Value): void {
    if (Array.isArray(value)) return;
    const noted = this.#absentFrom.get(value) ?? new Map<string, Absent>();
    this.#absentFrom.set(value, noted);
    for (const { name, json, schema } of defaults) {
      if (this.#has(value, name) || noted.has(name)) continue;
      this.#work.spend(5 + (json.length >> 2));
      const absent = { at: value, name, json, schema, chosen: this.#choices > 0 };
      noted.set(name, absent);
      this.absent.push(absent);
    }
  }

  /** Where no decision depends on it, a fitting default stands for a value that the caller did not send. */
  #hasDefault(value: Value, name: string): boolean {
    const absent = this.#decisions > 0 ? undefined : this.#absentFrom.get(value)?.get(name);
    if (absent === undefined) return false;
    const check = new Check(this.#document, this.#work);
    // A default may lack values that have defaults themselves, and so on.
    check.#depth = this.#depth;
    return check.visit(absent.schema, JSON.parse(absent.json), undefined);
  }

  #generic({ type, nullable, enum: values, const: only }: JsonSchema, value: unknown): boolean {
    let fits = true;
    if (type !== undefined && !(nullable === true && value === null)) {
      const types = (Array.isArray(type) ? type : [type]) as string[];
      this.#work.spend(types.length >> 3);
      if (!types.some((wanted) => typeOf(value, wanted)))
        fits = this.#fail(() => `must be ${[...new Set(types)]}`);
    }
    if (only !== undefined && !this.#isOneOf([only], value)) fits = this.#fail('must be equal to constant');
    if (values !== undefined && !this.#isOneOf(values as unknown[], value))
      fits = this.#fail(
        () => `must be equal to one of the allowed values: ${this.#shown(values as unknown[])}`,
      );
    return fits;
  }

  #isOneOf(values: readonly unknown[], value: unknown): boolean {
    if (typeof value === 'string') return values.some((other) => this.#isText(other, value));
    this.#work.spend(values.length >> 3);
    if (typeof value !== 'object' || value === null) return values.includes(value);
    const text = canonical(value, this.#work);
    return values.some((other) => canonical(other, this.#work) === text);
  }

  /** Compares only texts of the same length. */
  #isText(other: unknown, text: string): boolean {
    const isAsLong = typeof other === 'string' && other.length === text.length;
    this.#work.spend(1 / 8 + (isAsLong ? stepsOf(text) : 0));
    return isAsLong && other === text;
  }

  #text(schema: JsonSchema, value: string): boolean {
    this.#work.spend(stepsOf(value));
    const fits = this.#all(textKeywords(schema, value));
    const { pattern } = schema as { pattern?: string };
    if (pattern === undefined || this.#document.pattern(pattern)(value, this.#work)) return fits;
    return this.#fail(() => `must match pattern "${pattern}"`);
  }

  #list(schema: JsonSchema, value: readonly unknown[], own: Evaluated | undefined): boolean {
    const { maxItems, minItems, uniqueItems } = schema as Record<string, number | undefined>;
    let fits = true;
    if (maxItems !== undefined && value.length > maxItems)
      fits = this.#fail(() => `must NOT have more than ${maxItems} items`);
    if (minItems !== undefined && value.length < minItems)
      fits = this.#fail(() => `must NOT have fewer than ${minItems} items`);
    if (uniqueItems && !this.#areDistinct(value)) fits = false;
    if (!this.#items(schema, value, own)) fits = false;
    if (!this.#contains(schema, value, own)) fits = false;
    const rest = schema.unevaluatedItems as Schema | undefined;
    if (rest === undefined) return fits;
    this.#work.spend(value.length / 4);
    for (const [index, entry] of value.entries()) {
      if (own?.hasItem(index)) continue;
      if (!this.#inside(index, rest, entry)) fits = false;
    }
    own?.addItems(Number.POSITIVE_INFINITY);
    return fits;
  }

  #items(schema: JsonSchema, value: readonly unknown[], own: Evaluated | undefined): boolean {
    // Earlier drafts have the list in `items` and the schema of what follows it in `additionalItems`.
    const isEarlier = Array.isArray(schema.items);
    const first = schemasOf(isEarlier ? schema.items : schema.prefixItems);
    const others = (isEarlier ? schema.additionalItems : schema.items) as Schema | undefined;
    if (first.length === 0 && others === undefined) return true;
    let fits = true;
    for (const [index, entry] of value.entries()) {
      const inner = first[index] ?? others;
      if (inner === undefined) break;
      if (!this.#inside(index, inner, entry)) fits = false;
    }
    own?.addItems(others === undefined ? first.length : Number.POSITIVE_INFINITY);
    return fits;
  }

  #contains(schema: JsonSchema, value: readonly unknown[], own: Evaluated | undefined): boolean {
    if (schema.contains === undefined) return true;
    const least = (schema.minContains as number | undefined) ?? 1;
    const most = (schema.maxContains as number | undefined) ?? Number.POSITIVE_INFINITY;
    let found = 0;
    for (const [index, entry] of value.entries()) {
      if (!this.#tries(schema.contains as Schema, entry, undefined)) continue;
      found++;
      own?.items.add(index);
    }
    if (found >= least && found <= most) return true;
    const bound = () => (Number.isFinite(most) ? `and no more than ${most} ` : '');
    return this.#fail(() => `must contain at least ${least} ${bound()}valid item(s)`);
  }

  #areDistinct(value: readonly unknown[]): boolean {
    const seen = new Map<string, number>();
    for (const [index, entry] of value.entries()) {
      const text = canonical(entry, this.#work);
      const earlier = seen.get(text);
      if (earlier !== undefined)
        return this.#fail(
          () => `must NOT have duplicate items (items ## ${earlier} and ${index} are identical)`,
        );
      seen.set(text, index);
    }
    return true;
  }

  #object(schema: JsonSchema, value: Value, own: Evaluated | undefined): boolean {
    let fits = this.#properties(schema, value, own);
    if (!this.#presence(schema, value)) fits = false;
    for (const [name, dependent] of this.#entries(schema.dependentSchemas, schema.dependencies)) {
      if (Array.isArray(dependent) || !this.#has(value, name)) continue;
      if (!this.visit(dependent as Schema, value, own)) fits = false;
    }
    const rest = schema.unevaluatedProperties as Schema | undefined;
    if (rest === undefined) return fits;
    for (const name of this.#names(value)) {
      if (own?.names.has(name)) continue;
      own?.names.add(name);
      if (!this.#further(name, rest, value[name])) fits = false;
    }
    return fits;
  }

  #properties(schema: JsonSchema, value: Value, own: Evaluated | undefined): boolean {
    const { properties = {}, patternProperties, additionalProperties, propertyNames } = schema;
    const patterns = this.#entries(patternProperties);
    let fits = true;
    for (const name of this.#names(value)) {
      if (propertyNames !== undefined && !this.#tries(propertyNames as Schema, name, undefined))
        fits = this.#fail('property name must be valid', name);
      let isKnown = false;
      if (Object.hasOwn(properties as object, name)) {
        isKnown = true;
        if (!this.#inside(name, (properties as Record<string, Schema>)[name] as Schema, value[name]))
          fits = false;
      }
      for (const [pattern, inner] of patterns) {
        if (!this.#document.pattern(pattern)(name, this.#work)) continue;
        isKnown = true;
        if (!this.#inside(name, inner as Schema, value[name])) fits = false;
      }
      if (isKnown) own?.names.add(name);
      else if (additionalProperties !== undefined) {
        own?.names.add(name);
        if (!this.#further(name, additionalProperties as Schema, value[name])) fits = false;
      }
    }
    return fits;
  }

  #presence(schema: JsonSchema, value: Value): boolean {
    const { maxProperties, minProperties } = schema as Record<string, number | undefined>;
    let fits = true;
    const required = (schema.required ?? []) as string[];
    for (const name of required)
      if (!this.#has(value, name) && !this.#hasDefault(value, name)) fits = this.#fail('is missing', name);
    for (const [name, others] of this.#entries(schema.dependentRequired, schema.dependencies)) {
      if (!Array.isArray(others) || !this.#has(value, name)) continue;
      for (const other of others)
        if (!this.#has(value, other))
          fits = this.#fail(() => `must have property ${other} when property ${name} is present`);
    }
    if (maxProperties === undefined && minProperties === undefined) return fits;
    const count = this.#names(value).length;
    if (maxProperties !== undefined && count > maxProperties)
      fits = this.#fail(() => `must NOT have more than ${maxProperties} properties`);
    if (minProperties !== undefined && count < minProperties)
      fits = this.#fail(() => `must NOT have fewer than ${minProperties} properties`);
    return fits;
  }

  /** A property without a schema. */
  #further(name: string, schema: Schema, value: unknown): boolean {
    return schema === false
      ? this.#fail('is not a known parameter', name)
      : this.#inside(name, schema, value);
  }

  #inside(step: string | number, schema: Schema, value: unknown): boolean {
    this.#path.push(String(step));
    const fits = this.visit(schema, value, undefined);
    this.#path.pop();
    return fits;
  }

  #has(value: Value, name: string): boolean {
    this.#work.spend(1 / 4 + stepsOf(name));
    return Object.hasOwn(value, name) && value[name] !== undefined;
  }

  #names(value: Value): string[] {
    const names = Object.keys(value);
    this.#work.spend(names.length);
    return names;
  }

  #entries(...given: unknown[]): [string, unknown][] {
    const entries = given.flatMap((one) => (one === undefined ? [] : Object.entries(one as object)));
    this.#work.spend(entries.length);
    return entries;
  }

  #all(messages: readonly Message[]): boolean {
    for (const message of messages) this.#fail(message);
    return messages.length === 0;
  }

  /**
   * Adds no more issues once there are enough. A choice takes its issues back, so each message costs what it takes to
   * make.
   */
  #fail(message: Message, ...steps: string[]): false {
    if (this.issues.length >= mostIssues) return false;
    const text = typeof message === 'string' ? message : message();
    this.#work.spend(1 + stepsOf(text) + (this.#path.length >> 3));
    this.issues.push({ path: [...this.#path, ...steps], message: text });
    return false;
  }

  /** Values, as far as there is room for them. */
  #shown(values: readonly unknown[]): string {
    let text = '';
    for (const value of values) {
      if (text.length > longestList) break;
      const next = typeof value === 'string' ? value : canonical(value, this.#work);
      text += text === '' ? next : `, ${next}`;
    }
    return text.length > longestList ? `${text.slice(0, longestList)}…` : text;
  }
}

function schemasOf(given: unknown): readonly Schema[] {
  return (given ?? []) as readonly Schema[];
}
