/** MCP servers as OpenHands lists them: by transport, as addresses or tables. */
import { isTable, type Table } from '../plain-table.js';
import type { Output } from './import-output.js';
import { addressWithout, wordsWithout } from './secret-values.js';

export function importMcp(table: Table, output: Output): void {
  for (const [key, value] of Object.entries(table)) {
    const full = `mcp.${key}`;
    if (!['sse_servers', 'stdio_servers', 'shttp_servers'].includes(key)) {
      output.note(full, 'OpenHands has no such key');
      continue;
    }
    const list = Array.isArray(value) ? value : [];
    for (const [index, entry] of list.entries()) {
      const at = `${full}.${index}`;
      const server = typeof entry === 'string' ? { url: entry } : entry;
      if (!isTable(server)) output.note(at, 'it is neither an address nor a table');
      else if (key === 'stdio_servers') importProgram(server, at, index, output);
      else importAddress(server, at, { index, type: key === 'sse_servers' ? 'sse' : 'http' }, output);
    }
  }
}

function importProgram(server: Table, at: string, index: number, output: Output): void {
  const { name, command, args = [], env = {}, ...rest } = server;
  const given = typeof args === 'string' ? args.split(/\s+/).filter(Boolean) : [args].flat().map(String);
  const words = wordsWithout(given);
  for (const [place, word] of words.entries())
    if (word !== given[place])
      output.note(
        `${at}.args.${place}`,
        'it may hold a secret, which is not copied: write it where it is missing',
      );
  const program = {
    command: String(command),
    args: words,
    ...(isTable(env) && Object.keys(env).length > 0 && { env: output.variablesOfProgram(env, `${at}.env`) }),
  };
  output.set('mcp.servers', program, nameOf(name, `stdio-${index}`));
  noteRest(rest, at, output);
}

function importAddress(
  server: Table,
  at: string,
  { index, type }: { index: number; type: string },
  output: Output,
): void {
  const { url, api_key: key, timeout, ...rest } = server;
  const name = nameOf(undefined, `${type}-${index}`);
  const secret = `MCP_${name.toUpperCase().replace(/\W/g, '_')}_API_KEY`;
  const hasKey = typeof key === 'string' && key !== '';
  const shown = addressWithout(String(url));
  if (shown !== String(url))
    output.note(
      `${at}.url`,
      `it may hold a secret, which is not copied: complete the url of [mcp.servers.${name}]`,
    );
  const address = {
    type,
    url: shown,
    ...(hasKey && { headers: { authorization: `Bearer ${output.refer(secret, `${at}.api_key`)}` } }),
  };
  output.set('mcp.servers', address, name);
  if (timeout !== undefined) output.note(`${at}.timeout`, 'each call has its own time limit (timeoutMs)');
  noteRest(rest, at, output);
}

/** Names of servers have no dots here. */
function nameOf(given: unknown, otherwise: string): string {
  const name = typeof given === 'string' ? given.replace(/[^\w-]/g, '-').slice(0, 64) : '';
  return name === '' ? otherwise : name;
}

function noteRest(rest: Table, at: string, output: Output): void {
  for (const key of Object.keys(rest)) output.note(`${at}.${key}`, 'an MCP server has no such key here');
}
