import type { Call } from '../verb-call.js';
import { output, work } from './git-command.js';
import { checkName } from './revisions.js';

export interface InitOptions {
  /** The first branch. Default: `main`. */
  readonly branch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function initialize(
  call: Call,
  cwd: string,
  { branch = 'main', signal }: InitOptions,
): Promise<void> {
  const name = checkName('branch', branch);
  await output(work(call, cwd, { signal }), ['init', '--quiet', '--template=', `--initial-branch=${name}`]);
}
