/** The microagents of a runtime: which apply, which another of the same name replaces, and which are unreadable. */
import type { Collected, MicroagentProblem } from './collect-microagents.js';
import type { McpServer } from './mcp-servers.js';
import type { Microagent } from './microagent.js';
import type { OrganisationResult } from './organisation.js';

/** The microagents of all sources, and the unreadable files. */
export class LoadedMicroagents {
  /** Those that hold, by name, in order of precedence: the repository's are last. */
  readonly agents: readonly Microagent[];
  /** Those that another of the same name replaced. */
  readonly replaced: readonly Microagent[];
  readonly problems: readonly MicroagentProblem[];
  /** The organisation's repository that we read, and the addresses that failed. */
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

  /** Servers that the always active microagents ask for. Pass them to `runtime.mcp.connect` if you want them. */
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
