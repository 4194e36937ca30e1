/** Every field of every action of this package says what it is. */
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { builtinPlugins } from '../../src/cell/plugins/builtin.js';
import { type ActionTable, actions, type FieldKind, verbs } from '../../src/protocol/index.js';

const plugins = await Promise.all(Object.values(builtinPlugins).map(async (load) => (await load()).default));
const tables: ActionTable[] = [actions, verbs, ...plugins.map((plugin) => plugin.actions)];
const all = tables
  .flatMap((table) => Object.values(table))
  .map((definition) => ({ definition, name: definition.name }));

test.each(all)('$name: each field that can carry text has a kind', ({ definition }) => {
  const { action: _, ...shape } = definition.input.shape as unknown as Record<string, z.ZodType>;
  const missing = Object.entries(shape).flatMap(([field, schema]) =>
    withoutKind(schema, definition.kinds[field], field),
  );
  expect(missing).toEqual([]);
});

test.each(all)('$name: kinds name only fields that exist', ({ definition }) => {
  const { action: _, ...shape } = definition.input.shape as unknown as Record<string, z.ZodType>;
  expect(Object.keys(definition.kinds).filter((field) => !(field in shape))).toEqual([]);
  const text = JSON.stringify(definition.kinds);
  for (const [field, kind] of Object.entries(definition.kinds))
    if (kind === 'part')
      expect(text, `${field} is named by another kind`).toMatch(new RegExp(`"(rest|stdin)":"${field}"`));
});

/** The fields in a schema that hold text and that the kind says nothing about. */
function withoutKind(schema: z.ZodType, kind: FieldKind | undefined, at: string): string[] {
  const { def } = schema as unknown as { def: Definition };
  const nested = typeof kind === 'object' && ('fields' in kind || 'values' in kind) ? kind : undefined;
  if (kind !== undefined && nested === undefined) return [];
  switch (def.type) {
    case 'number':
    case 'int':
    case 'boolean':
      return [];
    case 'optional':
    case 'nullable':
    case 'default':
      return withoutKind(def.innerType as z.ZodType, kind, at);
    case 'array':
      return withoutKind(def.element as z.ZodType, kind, `${at}[]`);
    case 'union':
      return (def.options ?? []).flatMap((option) => withoutKind(option, kind, at));
    case 'record':
      if (nested !== undefined && 'values' in nested)
        return withoutKind(def.valueType as z.ZodType, nested.values, `${at}.*`);
      return [at];
    case 'object':
      if (nested !== undefined && 'fields' in nested)
        return Object.entries(def.shape ?? {}).flatMap(([field, inner]) =>
          withoutKind(inner, nested.fields[field], `${at}.${field}`),
        );
      return [at];
    default:
      return [at];
  }
}

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly valueType?: z.ZodType;
  readonly shape?: Record<string, z.ZodType>;
}
