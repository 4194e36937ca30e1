/** A microagent: instructions in Markdown, with front matter that says when they hold. */
import { z } from 'zod';
import { describeIssues } from '../../protocol/index.js';
import { parseFrontMatter } from './front-matter.js';
import { type McpServer, serversSchema, toServers } from './mcp-servers.js';

/** Where it comes from. A later one replaces an earlier one of the same name. */
export type MicroagentSource = 'user' | 'organisation' | 'repository';

/** A Markdown file with instructions for agents. */
export interface Microagent {
  /** The path below the directory of microagents, without its ending. */
  readonly name: string;
  /**
   * `repository`: always applies. `knowledge`: applies when the text mentions a trigger. `task`: applies when you
   * call it by `/name`.
   */
  readonly kind: 'repository' | 'knowledge' | 'task';
  readonly source: MicroagentSource;
  /** The file, as seen from where we read it. */
  readonly path: string;
  readonly content: string;
  readonly triggers: readonly string[];
  readonly inputs: readonly { readonly name: string; readonly description: string }[];
  /** Servers that a repository asks for, in the common form. Nothing starts them automatically. */
  readonly mcpServers: Readonly<Record<string, McpServer>>;
  readonly version: string;
  /** The kind of agent that it is for. */
  readonly agent: string;
}

const texts = z.array(z.coerce.string().trim().min(1).max(500)).max(200);

const frontMatterSchema = z.object({
  name: z.coerce.string().min(1).max(200).optional(),
  version: z.coerce.string().default('1.0.0'),
  agent: z.string().default('CodeActAgent'),
  triggers: z.union([texts, z.string().transform((text) => [text])]).nullish(),
  inputs: z
    .array(z.object({ name: z.string().min(1).max(200), description: z.string().default('') }))
    .max(100)
    .nullish(),
  mcp_tools: serversSchema.nullish(),
});

/** Throws an error that says what does not fit. */
export async function parseMicroagent(
  text: string,
  { name, source, path }: { name: string; source: MicroagentSource; path: string },
): Promise<Microagent> {
  const { front, body } = split(text);
  const parsed = frontMatterSchema.safeParse(front === undefined ? {} : await parseFrontMatter(front));
  if (!parsed.success) throw new Error(`The front matter does not fit: ${describeIssues(parsed.error)}.`);
  const { triggers, inputs, mcp_tools, version, agent, name: own } = parsed.data;
  const given = name === '' ? (own ?? 'default') : name;
  const kind = inputs?.length ? 'task' : triggers?.length ? 'knowledge' : 'repository';
  return {
    name: given,
    kind,
    source,
    path,
    content: kind === 'task' ? `${body}\n\n${askFirst}` : body,
    triggers: [...new Set([...(kind === 'task' ? [`/${given}`] : []), ...(triggers ?? [])])],
    inputs: inputs ?? [],
    mcpServers: toServers(mcp_tools ?? undefined),
    version,
    agent,
  };
}

const askFirst = 'Ask for each of the variables above that has not been given, before you begin.';

/** Front matter stands between two lines of three dashes at the very start. */
function split(text: string): { front?: string; body: string } {
  const clean = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const match = /^---[ \t]*\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/.exec(clean);
  if (match !== null) return { front: match[1] ?? '', body: clean.slice(match[0].length).trim() };
  if (/^---[ \t]*\n/.test(clean)) throw new Error('The front matter begins with --- and never ends.');
  return { body: clean.trim() };
}
