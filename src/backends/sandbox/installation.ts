/**
 * What a directory holds for its programs: known parts of known kinds of installations, and nothing else that lies
 * there.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Leaves out settings (`etc`, `conf`), logs and caches: they may hold passwords, such as those of an npm registry.
 */
const commonParts = ['bin', 'include', 'lib', 'lib64', 'libexec', 'share'];

/** Recognises an installation by files that a project or a home with a `bin` does not have. */
const kinds: readonly { readonly signs: readonly string[]; readonly more?: readonly string[] }[] = [
  { signs: ['lib/node_modules/npm', 'include/node/node.h'] },
  { signs: ['pkg/tool'], more: ['pkg', 'src', 'VERSION', 'go.env'] },
  // Java does not start without its `conf`.
  { signs: ['lib/modules', 'lib/rt.jar', 'jre/lib/rt.jar'], more: ['conf', 'jmods', 'jre', 'release'] },
  { signs: ['lib/rustlib'] },
  { signs: ['libexec/git-core'] },
];

/** The one prefix for which Homebrew builds on Linux; its programs are links into `Cellar`. */
const homebrew = '/home/linuxbrew/.linuxbrew';
const homebrewParts = ['Cellar', 'opt', 'sbin'];

/** What files and directories a project, or an environment of one, has at its top. */
const projectMarks = [
  ...[
    '.git',
    '.hg',
    '.svn',
    '.jj',
    '.envrc',
    'package.json',
    'Gemfile',
    'Rakefile',
    'pyproject.toml',
    'setup.py',
  ],
  ...[
    'requirements.txt',
    'pyvenv.cfg',
    'Cargo.toml',
    'go.mod',
    'composer.json',
    'pom.xml',
    'build.gradle',
    'mix.exs',
  ],
];

/** Undefined for a directory that is no installation. A link is no part: it may lead anywhere. */
export function installationParts(tree: string): string[] | undefined {
  if (tree === homebrew) return present(tree, [...commonParts, ...homebrewParts]);
  // Such as ~/.local and ~/.cargo: what belongs to a person, programs among it.
  if (basename(tree).startsWith('.')) return undefined;
  const matching = kinds.filter(({ signs }) => signs.some((sign) => isThere(join(tree, sign))));
  if (matching.length === 0 && !hasPython(tree)) return undefined;
  return present(tree, [...commonParts, ...matching.flatMap(({ more = [] }) => more)]);
}

export function hasProjectMark(folder: string): boolean {
  return projectMarks.some((mark) => isThere(join(folder, mark)));
}

function present(tree: string, names: readonly string[]): string[] {
  return [...new Set(names)].map((name) => join(tree, name)).filter((path) => isThere(path, 'no link'));
}

/** The standard library; `pip install --user` makes the directories without it. */
function hasPython(tree: string): boolean {
  try {
    return readdirSync(join(tree, 'lib')).some(
      (name) => /^python3\.\d+t?$/.test(name) && isThere(join(tree, 'lib', name, 'os.py')),
    );
  } catch {
    return false;
  }
}

function isThere(path: string, links?: 'no link'): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !(links === 'no link' && stats.isSymbolicLink());
  } catch {
    return false;
  }
}
