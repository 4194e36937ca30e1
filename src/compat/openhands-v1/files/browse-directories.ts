/** What a person sees who looks for a directory. */
import type { Executor } from '../../../protocol/index.js';

interface Place {
  readonly label: string;
  readonly path: string;
}

export interface Home {
  readonly home: string;
  readonly favorites: readonly Place[];
  readonly locations: readonly Place[];
}

/** Where to begin. Offers only what file verbs can reach, so the workspace replaces the rest. */
export async function findHome(executor: Executor, workspace: string): Promise<Home> {
  const { variables } = await executor.execute<'get_env'>({ action: 'get_env', names: ['HOME'] });
  const home = variables.HOME ?? '/';
  const [canReachHome, canReachRoot] = await Promise.all([
    isDirectory(executor, home),
    isDirectory(executor, '/'),
  ]);
  const root = canReachRoot ? '/' : workspace;
  return {
    home: canReachHome ? home : workspace,
    favorites: [{ label: 'Workspace', path: workspace }],
    locations: [{ label: root, path: root }],
  };
}

export interface SubdirectoryQuery {
  readonly page_id?: string | undefined;
  readonly limit: number;
  readonly include_hidden: boolean;
}

export interface SubdirectoryPage {
  readonly items: readonly { readonly name: string; readonly path: string }[];
  readonly next_page_id: string | null;
}

/**
 * Directories only, without links, by name. A page begins with the name, in small letters, that the previous page
 * returned.
 */
export async function searchSubdirectories(
  executor: Executor,
  path: string,
  { page_id: start, limit, include_hidden: withHidden }: SubdirectoryQuery,
): Promise<SubdirectoryPage> {
  const { entries } = await executor.execute<'list'>({ action: 'list', path, depth: 1, limit: 100_000 });
  const names = entries
    .filter(({ type, name }) => type === 'directory' && (withHidden || !name.startsWith('.')))
    .map(({ name }) => ({ name, key: name.toLowerCase() }))
    .sort((left, right) =>
      left.key < right.key || (left.key === right.key && left.name < right.name) ? -1 : 1,
    );
  const rest = start === undefined ? names : names.filter(({ key }) => key >= start);
  const prefix = path === '/' ? '' : path;
  return {
    items: rest.slice(0, limit).map(({ name }) => ({ name, path: `${prefix}/${name}` })),
    next_page_id: rest[limit]?.key ?? null,
  };
}

async function isDirectory(executor: Executor, path: string): Promise<boolean> {
  try {
    return (await executor.execute<'stat'>({ action: 'stat', path })).type === 'directory';
  } catch {
    return false;
  }
}
