/** Finds the module that an `import` in another place would load. Node offers this for the importing file alone. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const conditions = new Set(['node', 'import', 'module-sync', 'default']);

/** True for a name of a file, rather than a package. */
export function isModulePath(name: string): boolean {
  return name.startsWith('file:') || /^\.{0,2}\//.test(name);
}

/** The address of a package or a file that a person named, so that every place loads the same module. */
export function locateModule(name: string, folder: string): string {
  if (name.startsWith('file:')) return name;
  return isModulePath(name) ? pathToFileURL(resolve(folder, name)).href : resolveImport(name, folder);
}

/** Returns the address that a package name, with or without a path, has in a folder. */
export function resolveImport(name: string, folder: string): string {
  if (isBuiltin(name)) return name.startsWith('node:') ? name : `node:${name}`;
  const [, packageName = '', below = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name) ?? [];
  const places = createRequire(join(folder, 'package.json')).resolve.paths(name) ?? [];
  for (const place of places) {
    const directory = join(place, packageName);
    if (!isDirectory(directory)) continue;
    return pathToFileURL(moduleIn(directory, `.${below}`, name)).href;
  }
  throw new Error(`Cannot find package "${packageName}" from ${folder}`);
}

interface PackageFile {
  readonly exports?: unknown;
  readonly main?: unknown;
}

function moduleIn(directory: string, path: string, name: string): string {
  const file = join(directory, 'package.json');
  const { exports, main }: PackageFile = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  if (exports === undefined || exports === null) {
    if (path !== '.') return join(directory, path);
    const start = join(directory, typeof main === 'string' ? main : 'index.js');
    const found = [start, `${start}.js`, join(start, 'index.js')].find(isFile);
    return found ?? start;
  }
  const target = chosen(exportedAs(exports, path));
  if (target === undefined) throw new Error(`Package "${name}" does not export "${path}" for an import`);
  return join(directory, target);
}

/** The entry of `exports` for a path: its own, or the one of a pattern with the star filled in. */
function exportedAs(exports: unknown, path: string): unknown {
  const isTable = isObject(exports) && Object.keys(exports).every((key) => key.startsWith('.'));
  if (!isTable) return path === '.' ? exports : undefined;
  if (Object.hasOwn(exports, path)) return exports[path];
  const patterns = Object.keys(exports).filter((key) => key.includes('*'));
  for (const pattern of patterns.sort((one, other) => other.length - one.length)) {
    const [start = '', end = ''] = pattern.split('*');
    if (!path.startsWith(start) || !path.endsWith(end) || path.length < pattern.length) continue;
    const star = path.slice(start.length, path.length - end.length);
    return JSON.parse(JSON.stringify(exports[pattern]), (_key, value) =>
      typeof value === 'string' ? value.replaceAll('*', star) : value,
    );
  }
  return undefined;
}

/** The first target whose conditions hold. */
function chosen(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry.startsWith('./') ? entry : undefined;
  if (Array.isArray(entry)) return entry.map(chosen).find((target) => target !== undefined);
  if (!isObject(entry)) return undefined;
  for (const [condition, value] of Object.entries(entry)) {
    const target = conditions.has(condition) ? chosen(value) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
