/** Packages that only some users need. Workcell asks for them by name on first use. */
import { createRequire } from 'node:module';
import { WorkcellError } from '../protocol/index.js';

const require = createRequire(import.meta.url);

/** What is optional, and what for. `workcell doctor` lists them. */
export const optionalPackages = {
  '@daytonaio/sdk': 'backend daytona',
  '@runloop/api-client': 'backend runloop',
  acorn: 'functions that ship into a cell',
  e2b: 'backend e2b',
  esbuild: 'tools and plugins that ship into a cell',
  'eslint-scope': 'functions that ship into a cell',
  modal: 'backend modal',
  pg: 'events, and the store of a service, in PostgreSQL',
  'playwright-core': 'the browser',
} as const;

/** Whether Node finds it from here. */
export function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Throws, with what to install, when one of them is not there. */
export function requirePackages(purpose: string, names: readonly (keyof typeof optionalPackages)[]): void {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const list = missing.map((name) => `"${name}"`).join(' and ');
  throw new WorkcellError(
    'package-missing',
    `${purpose} takes the ${missing.length === 1 ? 'package' : 'packages'} ${list}. Install with: npm install ${missing.join(' ')}`,
    { details: { packages: missing } },
  );
}

/** Loads one of them when it is first used. `purpose`: as the subject of a sentence. */
export async function importOptional<Module>(
  name: keyof typeof optionalPackages,
  purpose: string,
): Promise<Module> {
  requirePackages(purpose, [name]);
  return (await import(name)) as Module;
}
