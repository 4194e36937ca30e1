/** The schemas that describe tools: any Standard Schema, or JSON Schema itself. */
import { createRequire } from 'node:module';
import { z } from 'zod';
import {
  type Checked,
  compile,
  type JsonSchema,
  withinBounds,
} from '../../cell/plugins/tools/json-schema.js';
import { withoutNulls } from '../../cell/plugins/tools/optional.js';
import { unknownProperties } from '../../cell/plugins/tools/unknown-properties.js';
import { WorkcellError } from '../../protocol/index.js';

/** The part of the Standard Schema interface that we use; zod, valibot, arktype and others have it. */
interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

export type ToolSchema = StandardSchema | JsonSchema;

/** What a caller writes to fit a schema. */
export type InputOf<Schema> =
  Schema extends StandardSchema<infer Input, infer _> ? Input : Record<string, unknown>;
/** The result of a schema for such input. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer _, infer Output> ? Output : Record<string, unknown>;

export function isStandard(schema: ToolSchema): schema is StandardSchema {
  return typeof (schema as Partial<StandardSchema>)['~standard']?.validate === 'function';
}

/** The schema of the input as JSON Schema. `what` names it in errors. */
export function toJsonSchema(schema: ToolSchema, what: string): JsonSchema {
  if (!isStandard(schema)) return schema;
  try {
    const { $schema: _, ...rest } = convert(schema);
    return rest;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError(
      'invalid-tool',
      `${what} cannot be written as JSON Schema: ${reason}. Give a JSON Schema instead.`,
      { cause },
    );
  }
}

/**
 * A check of values against the schema. A Standard Schema can transform the value. A null where the schema allows
 * none counts as absent. A strict check refuses properties that the schema does not name, unless the schema allows
 * more.
 */
export function checker(
  schema: ToolSchema,
  json: JsonSchema,
  { what, strict }: { readonly what: string; readonly strict: boolean },
): (value: unknown) => Promise<Checked> {
  if (!isStandard(schema)) {
    let check: ReturnType<typeof compile> | undefined;
    return async (value) => {
      check ??= compile(json, what, strict);
      return check(value);
    };
  }
  return async (given) => {
    const known = withinBounds(() => {
      const value = withoutNulls(given, json);
      const unknown = strict ? unknownProperties(value, json) : [];
      return unknown.length > 0 ? { issues: unknown } : { value };
    });
    if (known.issues !== undefined) return known;
    const result = await schema['~standard'].validate(known.value);
    if (result.issues === undefined) return { value: result.value };
    return {
      issues: result.issues.map(({ path, message }) => ({ path: Array.from(path ?? [], toStep), message })),
    };
  };
}

/** A step of a path is a bare key or an object that holds it. */
function toStep(step: unknown): string | number {
  const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : step;
  return typeof key === 'number' ? key : String(key);
}

const target = 'draft-2020-12';

function convert(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchema['~standard'] & {
    jsonSchema?: { input(options: { target: string }): JsonSchema };
  };
  if (jsonSchema !== undefined) return jsonSchema.input({ target });
  if (vendor === 'zod') return z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input', target });
  if (vendor === 'valibot') return valibot().toJsonSchema(schema, { typeMode: 'input' });
  if ('toJsonSchema' in schema && typeof schema.toJsonSchema === 'function') return schema.toJsonSchema();
  throw new Error(`"${vendor}" schemas do not tell their JSON Schema`);
}

/** Valibot has the conversion in a separate package, which users of its schemas install. */
function valibot(): { toJsonSchema(schema: unknown, options: { typeMode: 'input' }): JsonSchema } {
  try {
    return createRequire(import.meta.url)('@valibot/to-json-schema');
  } catch (cause) {
    throw new Error('valibot needs the package @valibot/to-json-schema for it, which is not installed', {
      cause,
    });
  }
}
