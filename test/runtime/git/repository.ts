/** Real repositories for the tests, made by git on this machine. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type CreateRuntimeOptions,
  createRuntime,
  type Runtime,
  type WorkcellEvent,
} from '../../../src/index.js';
import type { Dimension } from '../../../src/testing/index.js';
import { guardedVerbs, secretive } from '../../contract/dimensions.js';

export const places = ['cli', 'sandbox'] as const;
/** Where a verb has to work: also with guards, and with secrets. */
export const trustedPlaces = [...places, 'sandbox with guards', 'sandbox with secrets'] as const;
export type Place = (typeof trustedPlaces)[number] | 'local';
const dimensions: Partial<Record<Place, Dimension>> = {
  'sandbox with guards': guardedVerbs,
  'sandbox with secrets': secretive,
};

export interface Given {
  /** The workspace on this machine. */
  readonly directory: string;
  readonly runtime: Runtime;
}

/** A workspace with a runtime in it, both gone when the test ends. */
export async function given(place: Place, options: Record<string, unknown> = {}): Promise<Given> {
  const directory = makeDirectory();
  const dimension = dimensions[place];
  const runtime = await createRuntime({
    config: false,
    backend: dimension === undefined ? place : 'sandbox',
    workspace: directory,
    env: { GIT_CONFIG_GLOBAL: '/dev/null' },
    ...dimension?.options(),
    ...options,
    secrets: { ...(dimension?.options().secrets as object), ...(options.secrets as object) },
  } as CreateRuntimeOptions);
  const events: WorkcellEvent[] = [];
  const recording = (async () => {
    for await (const event of runtime.events) events.push(event);
  })();
  onTestFinished(async () => {
    await runtime.close();
    await recording;
    dimension?.check(events);
  });
  return { directory, runtime };
}

export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-git-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A U Thor',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** A repository below a directory. */
export class Repository {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    this.git('init', '-q', '-b', 'main');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.path,
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  write(path: string, content: string | Uint8Array, mode?: number): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    writeFileSync(join(this.path, path), content);
    if (mode !== undefined) chmodSync(join(this.path, path), mode);
  }

  remove(path: string): void {
    rmSync(join(this.path, path), { recursive: true });
  }

  /** Gives the id. */
  commit(message: string): string {
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }
}
