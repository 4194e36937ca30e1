/** A runtime with the pages of these tests served inside it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type CreateRuntimeOptions,
  createRuntime,
  type Observation,
  type Runtime,
} from '../../../../src/index.js';

const pages = fileURLToPath(new URL('site', import.meta.url));

/** Where the cell is. */
export type Place = Extract<CreateRuntimeOptions, { backend: 'cli' | 'sandbox' | 'local' | 'docker' }>;

export interface Site {
  readonly runtime: Runtime;
  /** The address of a page. */
  at(path: string): string;
  close(): Promise<void>;
}

export async function startSite(place: Place, options: Record<string, unknown> = {}): Promise<Site> {
  const workspace = mkdtempSync(join(tmpdir(), 'workcell-test-'));
  cpSync(pages, workspace, { recursive: true });
  // Commands in a container run as whom the workspace belongs to, and never as root.
  if (place.backend === 'docker' && process.getuid?.() === 0)
    execFileSync('chown', ['-R', '1000:1000', workspace]);
  const plugins = [{ name: 'browser', options }];
  const runtime = await createRuntime({ ...place, config: false, workspace, plugins });
  const { output } = await runtime.run('python3 server.py');
  const port = Number(output);
  return {
    runtime,
    at: (path) => `http://localhost:${port}/${path}`,
    async close() {
      await runtime.close();
      rmSync(workspace, { recursive: true, force: true });
    },
  };
}

type Page = Pick<Observation<'browse'>, 'elements' | 'tree'>;

/** The id of the element with this name. */
export function bidOf({ tree }: Page, name: string): string {
  const line = tree.split('\n').find((text) => /^\s*\[/.test(text) && text.includes(` '${name}'`));
  const bid = /\[(\w+)\]/.exec(line ?? '')?.[1];
  if (bid === undefined) throw new Error(`There is no ${name} in:\n${tree}`);
  return bid;
}
