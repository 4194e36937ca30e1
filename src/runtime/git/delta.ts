/** All that differs from a state in a working tree, files that git does not follow yet included, as one patch. */
import type { Call } from '../verb-call.js';
import { inspect, output } from './git-command.js';

export interface DeltaOptions {
  /** The id of a commit or tree. */
  readonly base: string;
  /** Left out, whether followed or not: pathspecs, without their `exclude`. */
  readonly exclude?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Index and objects go to a directory of their own, which ends with the script: nothing of the repository is touched. The
 * patch is encoded because files may have any bytes.
 */
const script = `
  objects=$(git rev-parse --path-format=absolute --git-path objects) || exit
  own=$(mktemp -d) || exit
  trap 'rm -rf "$own"' EXIT
  mkdir "$own/objects" || exit
  export GIT_INDEX_FILE="$own/index" GIT_OBJECT_DIRECTORY="$own/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
  git read-tree "$2" &&
    git add --all --pathspec-from-file=- --pathspec-file-nul &&
    git --no-pager diff --cached --binary --no-renames --no-ext-diff --no-textconv --no-color "$2" > "$own/patch" &&
    base64 "$own/patch"`;

/** What `git apply` turns the base into the working tree with. */
export async function findDelta(
  call: Call,
  cwd: string,
  { base, exclude = [], signal }: DeltaOptions,
): Promise<Buffer> {
  const git = await inspect(call, cwd, signal, ['sh', '-c', script, 'git']);
  const stdin = ['.', ...exclude.map((pattern) => `:(exclude,glob)${pattern}`)].join('\0');
  return Buffer.from(await output(git, ['diff', base], { stdin }), 'base64');
}
