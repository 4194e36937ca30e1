/** The MCP servers that a microagent names, in the form that other tools share. */
import { z } from 'zod';

export interface McpServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const argsSchema = z.union([z.array(z.coerce.string()), z.string().transform(toWords)]);
const envSchema = z.union([z.record(z.string(), z.coerce.string()), z.string().transform(toVariables)]);

export const serversSchema = z.object({
  stdio_servers: z
    .array(
      z.object({
        name: z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, underscores and hyphens'),
        command: z.string().regex(/^\S+$/, 'must be one word'),
        args: argsSchema.default([]),
        env: envSchema.default({}),
      }),
    )
    .max(50)
    .default([]),
});

export function toServers(tools: z.output<typeof serversSchema> | undefined): Record<string, McpServer> {
  return Object.fromEntries(
    (tools?.stdio_servers ?? []).map(({ name, command, args, env }) => [name, { command, args, env }]),
  );
}

/** Words with quotes around those that hold spaces. */
function toWords(text: string): string[] {
  const words = text.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? [];
  return words.map((word) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
      (_, double?: string, single?: string, one?: string) =>
        double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : (single ?? one ?? ''),
    ),
  );
}

/** `A=1,B=2`. */
function toVariables(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at < 0 ? undefined : at).trim(), at < 0 ? '' : pair.slice(at + 1).trim()];
    }),
  );
}
