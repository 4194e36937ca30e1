/** A project with a backend installed as a separate package, beside the built form of this one. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtFile } from '../built-file.js';
import { checkout } from '../house/source.js';

export interface OutsidePackage extends Disposable {
  /** Of the project. */
  readonly folder: string;
  /** The file that exports the backend. */
  readonly file: `/${string}`;
  /** Where it keeps its cells. */
  readonly directory: string;
}

/** The backend of `examples/backend`, as an installation would leave it. */
export function installBackend(): OutsidePackage {
  const folder = mkdtempSync(join(tmpdir(), 'outside-'));
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'workcell-backend-nsenter');
  mkdirSync(modules);
  cpSync(join(checkout, 'examples/backend'), installed, { recursive: true });
  symlinkSync(join(checkout, 'node_modules/zod'), join(modules, 'zod'));
  symlinkSync(dirname(dirname(builtFile('index.js'))), join(modules, 'workcell'));
  return {
    folder,
    file: join(installed, 'index.js') as `/${string}`,
    directory: join(folder, 'cells'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
