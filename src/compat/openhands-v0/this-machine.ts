/** This machine as the place of a server, as in the original: commands and file verbs reach all of it. */
import { mkdirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import { type AskedUser, provideUser } from './user.js';

/** What `createRuntime` takes. */
export interface MachinePlace {
  readonly backend: 'cli';
  readonly files: 'machine';
  readonly workspace: string;
  readonly runAs?: { uid: number; gid: number; mayGain: boolean };
}

/**
 * `user`: who runs the commands and owns the files. Default: the user of this process. `mayGain`: programs such as
 * sudo may give that user more rights.
 */
export function thisMachine(
  workingDirectory: string,
  user?: AskedUser,
  { mayGain = false }: { mayGain?: boolean } = {},
): MachinePlace {
  const workspace = makeWorkingDirectory(workingDirectory);
  const runAs = user === undefined ? undefined : provideUser(user, workspace);
  return {
    backend: 'cli',
    files: 'machine',
    workspace,
    ...(runAs !== undefined && { runAs: { ...runAs, mayGain } }),
  };
}

/** Members of its group may write to it. */
export function makeWorkingDirectory(given: string): string {
  const path = resolve(given);
  try {
    mkdirSync(path, { recursive: true, mode: 0o775 });
    return realpathSync(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('invalid-config', `The server cannot use the working directory: ${reason}.`, {
      cause,
    });
  }
}
