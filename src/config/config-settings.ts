/** Every setting, flat: those of the general schema, and one for each option of a backend. */
import { z } from 'zod';
import type { Backend } from '../backends/backend.js';
import { backendNames } from '../backends/index.js';
import { configSchema } from '../protocol/config.js';
import { toSnakeCase, unwrap } from './config-schema.js';

export interface Setting {
  /** As in a file, the section first: `sandbox.timeout`. */
  readonly key: string;
  /** The environment variable: `WORKCELL_SANDBOX_TIMEOUT`. */
  readonly variable: string;
  readonly schema: z.ZodType;
  /** Present when the setting belongs to one backend. */
  readonly option?: { readonly backend: string; readonly name: string };
}

/** The settings that are the same for all backends. */
export const generalSettings: readonly Setting[] = Object.entries(configSchema.shape).flatMap(
  ([name, schema]) => {
    const section = unwrap(schema);
    if (!(section instanceof z.ZodObject)) return [setting(name, schema)];
    return Object.entries(section.shape).map(([key, inner]) => setting(`${name}.${key}`, inner as z.ZodType));
  },
);

/** Keys that mean the same as another setting, for users who look for them in that section. */
export const sameAs: Readonly<Record<string, string>> = {
  'security.min_isolation': 'min_isolation',
  'security.min_facts': 'min_facts',
};

/** Where the backends' own sections stand in a file: `[backends.docker]`. */
export const backendsSection = 'backends';

/** The sections a file may have. */
export const sectionNames: readonly string[] = [
  ...new Set(generalSettings.flatMap(({ key }) => key.split('.').slice(0, -1))),
  ...backendNames.map((name) => `${backendsSection}.${name}`),
];

/** The settings of one backend: its options, without those that have a general setting at the top level. */
export function backendSettings({ type: backend, options }: Backend): Setting[] {
  const shape = options.shape as Record<string, z.ZodType>;
  return Object.entries(shape)
    .filter(([name]) => !generalSettings.some(({ key }) => key === toSnakeCase(name)))
    .map(([name, schema]) => ({
      ...setting(`${backendsSection}.${backend}.${toSnakeCase(name)}`, schema),
      option: { backend, name },
    }));
}

/** The prefix of the variables for a backend's own settings; without a name, of all backends. */
export function variablePrefix(backend: string): string {
  const section = backend === '' ? backendsSection : `${backendsSection}.${backend}`;
  return `${toVariable(section)}_`;
}

function setting(key: string, schema: z.ZodType): Setting {
  return { key, variable: toVariable(key), schema };
}

function toVariable(key: string): string {
  return `WORKCELL_${key.replace(/[.-]/g, '_').toUpperCase()}`;
}
