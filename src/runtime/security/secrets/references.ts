/** Secrets that a configuration names as `${NAME}`, in the variables and headers of MCP servers. */
import type { JudgedAction } from '../analyzers/analyzer.js';
import { mayReceive } from './reach.js';
import type { SecretOptions } from './secrets.js';

type Load = (name: string) => Promise<{ readonly value: string } | undefined>;
type Server = Readonly<Record<string, unknown>>;

/** The servers with the values in place. One that may not get a secret keeps the reference as it is. */
export async function fillServers<Action extends JudgedAction>(
  action: Action,
  entries: ReadonlyMap<string, SecretOptions>,
  load: Load,
): Promise<Action> {
  const servers: Record<string, Server> = {};
  for (const [name, server] of Object.entries(action.servers as Record<string, Server>)) {
    const mayGet = (secret: string) => reaches(server, secret, entries.get(secret));
    servers[name] = {
      ...server,
      ...(server.env !== undefined && {
        env: await fill(server.env as Record<string, string>, mayGet, load),
      }),
      ...(server.headers !== undefined && {
        headers: await fill(server.headers as Record<string, string>, mayGet, load),
      }),
    };
  }
  return { ...action, servers };
}

/** A program gets what it would get as a command. Where a header goes is not known, so a choice of commands excludes it. */
function reaches({ command, args = [] }: Server, name: string, entry: SecretOptions | undefined): boolean {
  if (entry?.reach !== 'env') return false;
  if (entry.commands === undefined) return true;
  if (typeof command !== 'string') return false;
  return mayReceive(name, entry.commands, {
    action: 'start_process',
    argv: [command, ...(args as string[])],
  });
}

async function fill(
  table: Readonly<Record<string, string>>,
  mayGet: (name: string) => boolean,
  load: Load,
): Promise<Record<string, string>> {
  const filled: Record<string, string> = {};
  for (const [key, text] of Object.entries(table)) {
    let value = text;
    for (const [reference, name = ''] of text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)) {
      const secret = mayGet(name) ? await load(name) : undefined;
      if (secret !== undefined) value = value.replaceAll(reference, () => secret.value);
    }
    filled[key] = value;
  }
  return filled;
}
