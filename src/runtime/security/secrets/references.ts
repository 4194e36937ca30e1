/** Secrets that an action names as `${NAME}` in its variables and secret fields, beside the program or server that gets them. */

import { quote } from '../../../base/shell-quote.js';
import { type Carried, describeAction, type FieldKind, type FieldKinds } from '../../../protocol/index.js';
import { hostsOf } from '../analyzers/actions/hosts.js';
import { mayReceive } from './reach.js';
import type { SecretOptions } from './secrets.js';

type Load = (name: string) => Promise<{ readonly value: string } | undefined>;
type Values = Readonly<Record<string, unknown>>;

interface Source {
  readonly entries: ReadonlyMap<string, SecretOptions>;
  readonly load: Load;
}

/** The object with the values filled in. A receiver that may not get a secret keeps the reference. */
export async function fillReferences<Fields extends Values>(
  fields: Fields,
  kinds: FieldKinds,
  source: Source,
): Promise<Fields> {
  const filled: Record<string, unknown> = { ...fields };
  const carried = describeAction({ kinds }, fields).filter(({ group }) => group === '');
  for (const [name, kind] of Object.entries(kinds)) {
    const value = fields[name];
    if (value !== undefined && value !== null) filled[name] = await fillValue(value, kind, carried, source);
  }
  return filled as Fields;
}

/** True for a kind of field in which we fill in references. */
export function holdsReferences(kind: FieldKind): boolean {
  if (kind === 'secret' || kind === 'environment') return true;
  if (typeof kind === 'string') return false;
  if ('values' in kind) return holdsReferences(kind.values);
  return 'fields' in kind && Object.values(kind.fields).some(holdsReferences);
}

async function fillValue(
  value: unknown,
  kind: FieldKind,
  beside: readonly Carried[],
  source: Source,
): Promise<unknown> {
  if (typeof value === 'string') return kind === 'secret' ? fillText(value, beside, source) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((entry) => fillValue(entry, kind, beside, source)));
  if (typeof kind === 'object' && 'fields' in kind)
    return fillReferences(value as Values, kind.fields, source);
  const inner =
    kind === 'environment'
      ? 'secret'
      : typeof kind === 'object' && 'values' in kind
        ? kind.values
        : undefined;
  if (inner === undefined) return value;
  const entries = Object.entries(value).map(
    async ([name, entry]) => [name, await fillValue(entry, inner, beside, source)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function fillText(
  text: string,
  beside: readonly Carried[],
  { entries, load }: Source,
): Promise<string> {
  let value = text;
  for (const [reference, name = ''] of text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)) {
    const secret = reaches(beside, name, entries.get(name)) ? await load(name) : undefined;
    if (secret !== undefined) value = value.replaceAll(reference, () => secret.value);
  }
  return value;
}

/**
 * A program gets the secrets that it would get as a command. A server gets a secret that names no commands and no
 * other hosts.
 */
function reaches(beside: readonly Carried[], name: string, entry: SecretOptions | undefined): boolean {
  if (entry?.reach !== 'env') return false;
  const servers = beside.flatMap((item) => (item.kind === 'address' ? hostsOf(item.address) : []));
  const { hosts, commands } = entry;
  if (hosts !== undefined && !servers.every((server) => hosts.includes(server.name))) return false;
  const program = beside.find((item) => item.kind === 'argv' || item.kind === 'shell');
  if (program === undefined) return commands === undefined && servers.length > 0;
  if (commands === undefined) return true;
  const source = program.kind === 'argv' ? program.argv.map(quote).join(' ') : program.source;
  return mayReceive(name, commands, { action: 'run', command: source });
}
