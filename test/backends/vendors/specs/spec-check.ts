/** Holds requests and answers to what is here of a vendor's specification. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

interface Operation {
  readonly query: readonly string[];
  /** None, where the body is not JSON. */
  readonly body?: object;
  /** The schema of each status, or null where the specification says no more. */
  readonly answers: Readonly<Record<string, object | null>>;
}

interface Extract {
  readonly operations: Readonly<Record<string, Operation>>;
  readonly definitions: Readonly<Record<string, object>>;
}

export class Spec {
  readonly #extract: Extract;
  readonly #schemas = new Map<object, z.ZodType>();

  /** `name`: of a file in this folder. */
  constructor(name: string) {
    const text = readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8');
    this.#extract = JSON.parse(text) as Extract;
  }

  /** The operation of a request, as the specification writes it. */
  operationOf(method: string, path: string): string | undefined {
    const fitting = Object.keys(this.#extract.operations).filter((operation) => {
      const [verb, pattern = ''] = operation.split(' ');
      return verb === method && new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
    });
    // One with a name in its place stands before one with a variable.
    return fitting.sort((one, other) => one.split('{').length - other.split('{').length)[0];
  }

  takesJson(operation: string): boolean {
    return this.#of(operation).body !== undefined;
  }

  /** What a request has that the specification does not allow. */
  problemOfRequest(operation: string, query: Iterable<string>, body: unknown): string | undefined {
    const { query: known, body: schema } = this.#of(operation);
    const strange = [...query].filter((name) => !known.includes(name));
    if (strange.length > 0) return `${operation}: it takes no ${strange.join(', ')} in its query`;
    return schema === undefined ? undefined : this.#problem(operation, schema, body);
  }

  /** The same of an answer. A failure that the specification does not name may say anything. */
  problemOfAnswer(operation: string, status: number, body: unknown): string | undefined {
    const { answers } = this.#of(operation);
    const schema = answers[status];
    if (schema === undefined)
      return status < 400 ? `${operation}: it never answers with ${status}` : undefined;
    return schema === null ? undefined : this.#problem(`${operation}: ${status}`, schema, body);
  }

  #of(operation: string): Operation {
    const found = this.#extract.operations[operation];
    if (found === undefined) throw new Error(`${operation} is not in the extract.`);
    return found;
  }

  #problem(what: string, schema: object, value: unknown): string | undefined {
    const known = this.#schemas.get(schema) ?? this.#compile(schema);
    this.#schemas.set(schema, known);
    const issue = known.safeParse(value).error?.issues[0];
    return issue === undefined ? undefined : `${what}: ${[...issue.path, issue.message].join(': ')}`;
  }

  #compile(schema: object): z.ZodType {
    const { definitions } = this.#extract;
    return z.fromJSONSchema({ definitions, ...schema }, { defaultTarget: 'openapi-3.0' });
  }
}
