import { createRequire } from 'node:module';

/** The bundler sets it: a program in one file has no package around it. */
declare const bundledVersion: string | undefined;

/** The version of this package. */
export function packageVersion(): string {
  if (typeof bundledVersion === 'string') return bundledVersion;
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
