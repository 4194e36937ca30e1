/** The microagents that hold for the work in a runtime, from all their sources. */
import { homedir } from 'node:os';
import { posix } from 'node:path';
import type { Call } from '../call.js';
import type { RuntimeGit } from '../git/git.js';
import { type Collected, collectFrom, collectInstructions, type MicroagentProblem } from './collect.js';
import { cellFolder, type Folder, hostFolder } from './folder.js';
import type { McpServer } from './mcp-servers.js';
import type { Microagent } from './microagent.js';
import { loadOrganisation, type OrganisationOptions, type OrganisationResult } from './organisation.js';

export interface LoadMicroagentsOptions {
  /** The repository. Default: the workspace. */
  readonly path?: string | undefined;
  /** `false` leaves the organisation out. Default: derived from the address of `origin`, read without a token. */
  readonly organisation?: boolean | OrganisationOptions | undefined;
  /** A directory on this machine that holds `microagents`, or `false`. Default: `~/.openhands`, then `~/.workcell`. */
  readonly user?: string | false | undefined;
  /** Names of those that are not wanted. */
  readonly disabled?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Folders of a repository or a user; what is in the later one wins. */
const folders = ['.openhands', '.workcell'];

export class RuntimeMicroagents {
  readonly #call: Call;
  readonly #git: () => RuntimeGit;

  constructor(call: Call, git: () => RuntimeGit) {
    this.#call = call;
    this.#git = git;
  }

  /** Reads all of them. Files that cannot be used are told in `problems` and hide no others. */
  async load(options: LoadMicroagentsOptions = {}): Promise<LoadedMicroagents> {
    const git = this.#git().at(options.path ?? '.');
    const organisation = await this.#organisation(git, options);
    const found: Collected[] = [];
    for (const folder of userFolders(options.user))
      found.push(await collectFrom(folder, 'microagents', 'user'));
    if (organisation !== undefined) found.push(organisation);
    const repository = cellFolder(this.#call, git.path);
    found.push(await collectInstructions(repository, 'repository'));
    for (const folder of folders)
      found.push(await collectFrom(repository, posix.join(folder, 'microagents'), 'repository'));
    return new LoadedMicroagents(found, organisation, options.disabled ?? []);
  }

  async #organisation(
    git: RuntimeGit,
    { organisation = true, signal }: LoadMicroagentsOptions,
  ): Promise<OrganisationResult | undefined> {
    if (organisation === false) return undefined;
    const places = { workspace: this.#git(), repository: git };
    return loadOrganisation(this.#call, places, { signal, ...(organisation === true ? {} : organisation) });
  }
}

/** What was found. */
export class LoadedMicroagents {
  /** Those that hold, by name, in order of precedence: the repository's are last. */
  readonly agents: readonly Microagent[];
  /** Those that another of the same name replaced. */
  readonly replaced: readonly Microagent[];
  readonly problems: readonly MicroagentProblem[];
  /** The organisation's repository that was read, and those that could not be. */
  readonly organisation: Pick<OrganisationResult, 'url' | 'attempts'> | null;

  constructor(
    found: readonly Collected[],
    organisation: OrganisationResult | undefined,
    disabled: readonly string[],
  ) {
    const all = found.flatMap(({ agents }) => agents).filter(({ name }) => !disabled.includes(name));
    const last = new Map<string, Microagent>();
    for (const agent of all) {
      last.delete(agent.name);
      last.set(agent.name, agent);
    }
    this.agents = [...last.values()];
    this.replaced = all.filter((agent) => last.get(agent.name) !== agent);
    this.problems = found.flatMap(({ problems }) => problems);
    this.organisation =
      organisation === undefined ? null : { url: organisation.url, attempts: organisation.attempts };
  }

  /** What always holds, as one text. */
  get instructions(): string {
    return this.agents
      .filter(({ kind }) => kind === 'repository')
      .map(({ content }) => content)
      .join('\n\n');
  }

  /** Servers that microagents which always hold ask for; to be given to `runtime.mcp.connect`, if they are wanted. */
  get mcpServers(): Record<string, McpServer> {
    const always = this.agents.filter(({ kind }) => kind === 'repository');
    return Object.assign({}, ...always.map(({ mcpServers }) => mcpServers));
  }

  /** Those whose trigger is in a message, in any case, each with the first trigger that is. */
  match(message: string): { agent: Microagent; trigger: string }[] {
    const text = message.toLowerCase();
    return this.agents.flatMap((agent) => {
      const trigger = agent.triggers.find((word) => text.includes(word.toLowerCase()));
      return trigger === undefined ? [] : [{ agent, trigger }];
    });
  }
}

function userFolders(user: string | false | undefined): Folder[] {
  if (user === false) return [];
  const home = homedir();
  return (user === undefined ? folders.map((folder) => posix.join(home, folder)) : [user]).map(hostFolder);
}
