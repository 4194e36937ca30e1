/** A temporary directory with a tree rooted in it, next to a secret that no file verb may reach. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { EditHistory } from '../../../../src/cell/executor/files/edit-history.js';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import type { CellParts, Handler } from '../../../../src/cell/executor/handler-context.js';
import { edit } from '../../../../src/cell/executor/handlers/edit-handlers.js';
import * as files from '../../../../src/cell/executor/handlers/file-handlers.js';
import { glob, grep } from '../../../../src/cell/executor/handlers/search-handlers.js';
import {
  type ActionInput,
  type ActionName,
  type CoreActionName,
  type ExecuteContext,
  type Observation,
  parseAction,
  WorkcellError,
} from '../../../../src/protocol/index.js';

const handlers = { ...files, make_dir: files.makeDir, edit, glob, grep };

export const secret = 'the-secret-outside';

export interface Scratch {
  /** The root of the tree, as this machine sees it. */
  readonly root: string;
  /** A directory beside the root with a file `secret.txt`. */
  readonly outside: string;
  readonly tree: Tree;
  /** Carries an action out as the executor does: checked, with defaults filled in. */
  act<Name extends ActionName>(
    action: ActionInput<Name> & { action: Name },
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
}

/** `whole`: the tree is the whole file system of the cell, with the workspace at `/workspace`. */
export function makeScratch(options: { whole?: boolean } = {}): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-test-')));
  const root = join(base, 'root');
  const outside = join(base, 'outside');
  mkdirSync(join(root, 'workspace'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), secret);
  const tree = options.whole
    ? new Tree({ root, mount: '/', workspace: '/workspace' })
    : new Tree({ root, mount: root, workspace: root });
  const cell = { tree, edits: new EditHistory(), launcher: {} } as unknown as CellParts;
  onTestFinished(() => {
    tree.close();
    rmSync(base, { recursive: true, force: true });
  });
  return {
    root,
    outside,
    tree,
    async act(action, context = {}) {
      const checked = parseAction(action);
      const handler = handlers[checked.action as keyof typeof handlers] as unknown as Handler<CoreActionName>;
      return handler(checked as never, cell, context) as never;
    },
  };
}

/** The code of the error that a promise rejects with; fails when it does not reject, or not with a typed error. */
export async function errorOf(promise: Promise<unknown>): Promise<WorkcellError> {
  const outcome = await promise.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (WorkcellError.isInstance(outcome)) return outcome;
  throw outcome;
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await errorOf(promise)).code;
}
