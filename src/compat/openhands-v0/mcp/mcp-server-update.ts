/** The body of `/update_mcp_server`. */
import { z } from 'zod';
import { describeIssues } from '../../../protocol/index.js';
import { mcpServerNameSchema } from '../../../protocol/mcp-server-schema.js';
import { HttpError } from '../http-error.js';
import { words } from '../openhands-words.js';

export interface StdioServer {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

// It comes before names of tools, which take no dots.
const nameSchema = mcpServerNameSchema.regex(/^[\w-]+$/, 'must be letters, digits, underscores and hyphens');

const serverSchema = z.object({
  name: nameSchema,
  command: z.string().regex(/^\S+$/, 'must be one word'),
  args: z.union([z.array(z.string()), z.string().transform(splitWords)]).default([]),
  env: z.union([z.record(z.string(), z.string()), z.string().transform(splitPairs)]).default({}),
});

/** The servers by name; of two with the same name the last counts. */
export function parseServers(body: unknown, longestName: number): Record<string, StdioServer> {
  if (!Array.isArray(body)) throw new HttpError(400, words('mcp.not_a_list'));
  const name = nameSchema.max(longestName, `must be no longer than ${longestName} characters`);
  const result = z.array(serverSchema.extend({ name })).safeParse(body);
  if (!result.success)
    throw new HttpError(400, words('mcp.misfit', { problems: describeIssues(result.error) }));
  return Object.fromEntries(result.data.map(({ name, ...server }) => [name, server]));
}

/** Words as a shell separates them, without anything that a shell would replace. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_all, single, double, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  );
}

function splitPairs(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
  );
}
