/** Everything that differs from a state in a working tree, untracked files included, as one patch. */
import { programText } from '../../base/program-text.js';
import type { Call } from '../verb-call.js';
import { inspect, output } from './git-command.js';

export interface DeltaOptions {
  /** The id of a commit or tree. */
  readonly base: string;
  /** Pathspecs to leave out, tracked or not, without their `exclude`. */
  readonly exclude?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A patch with which `git apply` turns the base into the working tree. */
export async function findDelta(
  call: Call,
  cwd: string,
  { base, exclude = [], signal }: DeltaOptions,
): Promise<Buffer> {
  const git = await inspect(call, cwd, signal, ['sh', '-c', programText('delta.sh', import.meta.url), 'git']);
  const stdin = ['.', ...exclude.map((pattern) => `:(exclude,glob)${pattern}`)].join('\0');
  return Buffer.from(await output(git, ['diff', base], { stdin }), 'base64');
}
