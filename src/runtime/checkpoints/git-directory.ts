/** `.git`, also as systems name it that ignore case, dots and spaces at the end of a name, or shorten it. */
const git = /^(?:\.git|git~\d+)[ .]*$/i;

/** A repository, by its directory or by the file that leads to it: git runs what stands in there. */
export function gitDirectoryOf(path: string): string | undefined {
  const names = path.split('/');
  const at = names.findIndex((name) => git.test(name));
  return at === -1 ? undefined : names.slice(0, at + 1).join('/');
}
