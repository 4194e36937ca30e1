import type { z } from 'zod';
import { WorkcellError } from '../protocol/index.js';
import type { Backend } from './backend.js';

/** Every backend, loaded when it is first used. */
export const backends = {
  cli: () => import('./cli.js'),
  docker: () => import('./docker.js'),
  local: () => import('./local.js'),
  remote: () => import('./remote.js'),
  sandbox: () => import('./sandbox.js'),
  'ubuntu-docker': () => import('./ubuntu-docker.js'),
};

/** The name of a backend of this package. */
export type BackendName = keyof typeof backends;

type OptionsOf<Name extends BackendName> =
  Awaited<ReturnType<(typeof backends)[Name]>>['default'] extends Backend<infer Shape, infer _Place>
    ? z.input<z.ZodObject<Shape>>
    : never;

type PlaceOf<Name extends BackendName> =
  Awaited<ReturnType<(typeof backends)[Name]>>['default'] extends Backend<infer _Shape, infer Place>
    ? Place
    : never;

type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

type AllPlaces = Merged<{ [Name in BackendName]: PlaceOf<Name> }[BackendName]>;

/** Where cells are: what any of the backends takes for that. */
export type BackendPlace = {
  [Name in keyof AllPlaces]?: AllPlaces[Name] extends z.ZodType ? z.input<AllPlaces[Name]> : never;
};

/** The name of a backend with the options it takes. */
export type BackendConfig = { [Name in BackendName]: { backend: Name } & OptionsOf<Name> }[BackendName];

export const backendNames = Object.keys(backends) as BackendName[];

const loaded = new Map<string, Promise<Backend>>();

/** Asked for once each: to look a module up again takes a good part of a start, most of all where a loader is in between. */
export async function loadBackend(name: string): Promise<Backend> {
  if (!Object.hasOwn(backends, name)) {
    throw new WorkcellError(
      'backend-unknown',
      `There is no backend "${name}". Known: ${backendNames.join(', ')}.`,
      {
        details: { backend: name },
      },
    );
  }
  const backend =
    loaded.get(name) ??
    backends[name as BackendName]().then((module) => module.default as unknown as Backend);
  loaded.set(name, backend);
  return backend;
}
