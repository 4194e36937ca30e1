/**
 * Every backend: those of this package, which load on first use, and those that others bring as packages or files.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { importModule } from '../base/import-module.js';
import { isModulePath, locateModule } from '../base/resolve-import.js';
import { checkTrustedModule } from '../base/trusted-module.js';
import { WorkcellError } from '../protocol/index.js';
import type { Backend } from './backend.js';
import { holdBackend, within } from './held-backend.js';

/** Those of this package. */
export const backends = {
  cli: () => import('./cli.js'),
  daytona: () => import('./daytona.js'),
  docker: () => import('./docker.js'),
  e2b: () => import('./e2b.js'),
  kubernetes: () => import('./kubernetes.js'),
  local: () => import('./local.js'),
  modal: () => import('./modal.js'),
  remote: () => import('./remote.js'),
  runloop: () => import('./runloop.js'),
  sandbox: () => import('./sandbox.js'),
  service: () => import('./service.js'),
  'ubuntu-docker': () => import('./ubuntu-docker.js'),
};

/**
 * The backends to try when you name none, in this order. Backends that do not isolate are not here, nor are foreign
 * ones: you get them only by name.
 */
export const defaultCandidates: readonly BackendName[] = ['sandbox', 'docker'];

/** A backend of this package. */
export type BackendName = keyof typeof backends;

export const backendNames = Object.keys(backends) as BackendName[];

/** Backends of other packages, by the name of the package. A package declares its own here by merging this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: packages fill it
export interface OutsideBackends {}

/** A file that exports a backend. */
export type BackendFile = `/${string}` | `./${string}` | `../${string}` | `file:${string}`;

/** How to ask for a backend: a name, a package, a file, or the backend itself. */
export type BackendSpec = BackendName | keyof OutsideBackends | BackendFile | AnyBackend;

/** A backend with any options. */
export type AnyBackend = Omit<Backend, 'options' | 'place'> & {
  readonly options: z.ZodObject;
  readonly place: z.ZodObject;
};

type Declared = { [Name in BackendName]: Awaited<ReturnType<(typeof backends)[Name]>>['default'] } & {
  [Name in keyof OutsideBackends]: OutsideBackends[Name];
};

type OptionsOf<Name extends keyof Declared> =
  Declared[Name] extends Backend<infer Shape, infer _Place> ? z.input<z.ZodObject<Shape>> : never;

type PlaceOf<Name extends keyof Declared> =
  Declared[Name] extends Backend<infer _Shape, infer Place> ? Place : never;

type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

type AllPlaces = Merged<{ [Name in keyof Declared]: PlaceOf<Name> }[keyof Declared]>;

/** Where cells are: the union of what all backends take for that. */
export type BackendPlace = {
  [Name in keyof AllPlaces]?: AllPlaces[Name] extends z.ZodType ? z.input<AllPlaces[Name]> : never;
};

/** A backend with its options. We do not know what a file exports, so its own schema alone checks them. */
export type BackendConfig =
  | { [Name in keyof Declared]: { backend: Name } & OptionsOf<Name> }[keyof Declared]
  | ({ backend: BackendFile } & Record<string, unknown>);

export function isBackendName(name: string): name is BackendName {
  return Object.hasOwn(backends, name);
}

/**
 * The name of a backend of this package, or the address of the module that a package or file is, seen from a
 * directory. Undefined when there is none of that name. Loads nothing.
 */
export function locateBackend(spec: string, from: string): string | undefined {
  if (isBackendName(spec)) return spec;
  try {
    const address = locateModule(spec, from);
    return address.startsWith('file:') && existsSync(fileURLToPath(address)) ? address : undefined;
  } catch {
    return undefined;
  }
}

const loaded = new Map<string, Promise<Backend>>();

/**
 * Loads a backend by a name or an address. Caches the import promise; importing again is slow, most of all under a
 * loader.
 */
export async function loadBackend(name: string): Promise<Backend> {
  const backend = loaded.get(name) ?? (isBackendName(name) ? loadOwn(name) : loadModule(name));
  loaded.set(name, backend);
  // Do not cache a failure: somebody may repair the module.
  backend.catch(() => loaded.delete(name));
  return backend;
}

async function loadOwn(name: BackendName): Promise<Backend> {
  return (await backends[name]()).default as unknown as Backend;
}

async function loadModule(address: string): Promise<Backend> {
  if (!address.startsWith('file:')) throw unknownBackend(address);
  let module: { default?: unknown };
  try {
    checkTrustedModule(address);
    module = await within(`module of backend ${address}`, () => importModule(address));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('invalid-config', `The backend ${address} cannot be loaded: ${reason}.`, {
      details: { backend: address },
      cause,
    });
  }
  return checkBackend(module.default, `The default export of ${address}`);
}

export function unknownBackend(spec: string): WorkcellError {
  const known = `Known: ${backendNames.join(', ')}`;
  const advice = isModulePath(spec) ? 'There is no such file' : known;
  return new WorkcellError(
    'backend-unknown',
    `There is no backend "${spec}". ${advice}; others are packages beside this one or in your configuration directory, or files (./NAME), that export one as default.`,
    { details: { backend: spec } },
  );
}

const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');
const isSchema = z.custom(
  (value) => value instanceof Object && 'shape' in value && 'safeParse' in value,
  'must be an object schema',
);

const backendSchema = z.looseObject({
  type: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, 'must be a name in lower case')
    .refine((type) => !isBackendName(type), 'is that of a backend of this package'),
  options: isSchema,
  place: isSchema,
  probe: isFunction,
  start: isFunction,
  attach: isFunction.optional(),
  list: isFunction.optional(),
  overlays: isFunction.optional(),
  stats: isFunction.optional(),
  elsewhere: z.boolean().optional(),
  sharesWorkspace: z.boolean().optional(),
});

/** Holds a foreign value to the contract of a backend. `what`: the subject of a sentence. */
export function checkBackend(value: unknown, what: string): Backend {
  const result = backendSchema.safeParse(value);
  if (result.success) return holdBackend(value as Backend);
  const problems = result.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new WorkcellError(
    'invalid-config',
    `${what} is not a backend that defineBackend made: ${problems.join('; ')}.`,
  );
}
