/** Microagents that an organisation keeps for all its repositories, in a separate repository. */

import { randomBytes } from 'node:crypto';
import { withoutEnd } from '../../base/without-end.js';
import { WorkcellError } from '../../protocol/index.js';
import type { RuntimeGit } from '../git/runtime-git.js';
import type { Call } from '../verb-call.js';
import { type Collected, collectFrom } from './collect-microagents.js';
import { cellFolder } from './folder.js';

export interface OrganisationOptions {
  /** Default: derived from the address of `origin`. */
  readonly url?: string | undefined;
  /** Name of a secret, as for `git.clone`. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OrganisationResult extends Collected {
  /** The repository that we read; null when there was none. */
  readonly url: string | null;
  /** Each address that we tried, and why it failed. Often there is no such repository. */
  readonly attempts: readonly { readonly url: string; readonly message: string }[];
}

const patienceMs = 60_000;

export async function loadOrganisation(
  call: Call,
  { workspace, repository }: { workspace: RuntimeGit; repository: RuntimeGit },
  { url, token, signal }: OrganisationOptions,
): Promise<OrganisationResult> {
  const attempts: { url: string; message: string }[] = [];
  const candidates = url === undefined ? configurationUrls(await originOf(repository, signal)) : [url];
  for (const candidate of candidates) {
    const into = `${workspace.path}/.workcell-organisation-${randomBytes(6).toString('hex')}`;
    try {
      await workspace.clone(candidate, { depth: 1, into, token, signal, timeoutMs: patienceMs });
      const found = await collectFrom(cellFolder(call, into), 'microagents', 'organisation');
      return { url: candidate, attempts, ...found };
    } catch (error) {
      if (!WorkcellError.isInstance(error) || error.code === 'cancelled') throw error;
      attempts.push({ url: candidate, message: error.message });
    } finally {
      await call.execute({ action: 'remove', path: into, recursive: true, force: true });
    }
  }
  return { url: null, attempts, agents: [], problems: [] };
}

/** A cell without git has no origin either. */
async function originOf(git: RuntimeGit, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return await git.remoteUrl({ signal });
  } catch (error) {
    if (WorkcellError.isInstance(error) && error.code === 'capability-unsupported') return undefined;
    throw error;
  }
}

/** Where an organisation keeps its configuration, by the address of one of its repositories. */
export function configurationUrls(origin: string | undefined): string[] {
  const match =
    /^(?<start>(?:https?|ssh):\/\/(?<host>[^/]+)\/|(?:[^@/\s]+@)?(?<short>[^:/\s]+):)(?<path>[^\s]+)$/.exec(
      origin ?? '',
    );
  const { start = '', host, short = '', path = '' } = match?.groups ?? {};
  const parts = withoutEnd(path, '/').split('/');
  const name = (host ?? short).replace(/^.*@/, '').replace(/:\d+$/, '');
  if (parts.length < 2 || parts[0] === '') return [];
  if (name === 'dev.azure.com') {
    return ['workcell-config', 'openhands-config'].map((own) => `${start}${parts[0]}/${own}/_git/${own}`);
  }
  const owner = parts.slice(0, -1).join('/');
  const names = /(^|\.)gitlab\./.test(name)
    ? ['workcell-config', 'openhands-config']
    : ['.workcell', '.openhands'];
  return names.map((own) => `${start}${owner}/${own}.git`);
}
