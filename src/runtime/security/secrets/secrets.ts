/** Named secrets: which commands get them, and that nothing which leaves a cell shows them. */
import { type NetworkSecret, WorkcellError } from '../../../protocol/index.js';
import { definitionOf } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction } from '../analyzers/analyzer.js';
import { checkSecret } from './check-secret.js';
import { checkPatterns, mayReceive } from './reach.js';
import { fillReferences, holdsReferences } from './references.js';
import { createMask, type SecretMask } from './secret-mask.js';
import { Matcher } from './secret-matcher.js';

/** The value of a secret, with its end. */
export interface SecretValue {
  readonly value: string;
  /** Milliseconds since the epoch; after it, we ask the provider again. Default: never. */
  readonly expiresAt?: number | undefined;
}

/** A secret: its value or where to get it, and what may get it. */
export type SecretOptions = (
  | { readonly value: string; readonly provider?: undefined }
  | {
      readonly provider: () => string | SecretValue | Promise<string | SecretValue>;
      readonly value?: undefined;
    }
) & {
  /** `none` (default) only hides it; `env` also sets it as a variable of chosen commands; `network` leaves it outside: the cell has a placeholder, which the gateway replaces in requests to `hosts`. */
  readonly reach?: 'none' | 'env' | 'network' | undefined;
  /** The simple commands that get it, such as `gh *`. Default: those that mention its name. */
  readonly commands?: readonly string[] | undefined;
  /** Servers, such as `github.com`, that git in the cell may send it to as a password, or that requests with it go to. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** With reach `network`: also put into bodies of requests. Default: into headers and passwords only. */
  readonly body?: boolean | undefined;
};

/** The secrets of a runtime: masks them, and passes them to the actions that may have them. */
export interface Secrets {
  readonly mask: SecretMask;
  /** Adds or replaces secrets; earlier values stay hidden. */
  refresh(secrets: Readonly<Record<string, SecretOptions>>): Promise<void>;
  /** The action with the variables that it may get. Call it after judging and recording the action. */
  prepare<Action extends JudgedAction>(
    action: Action,
    context?: Pick<AnalyzeContext, 'definition'>,
  ): Promise<Action>;
  /** The value, for a server that the secret's `hosts` name; throws `denied` for any other. */
  credential(name: string, host: string): Promise<string>;
  /** Those that the gateway of a cell puts into requests, while the cell has placeholders. */
  bound(): NetworkSecret[];
}

/** Shorter values are in ordinary text by chance, and hiding them would make it unreadable. */
const shortestSecret = 6;

/** Reads the secrets. Warns about a value that is too short to mask. */
export async function createSecrets(
  secrets: Readonly<Record<string, SecretOptions>>,
  options: { onWarning?: ((message: string) => void) | undefined } = {},
): Promise<Secrets> {
  const { onWarning = (message: string) => process.emitWarning(message, 'WorkcellWarning') } = options;
  const matcher = new Matcher();
  const entries = new Map<string, SecretOptions>();
  const current = new Map<string, SecretValue>();

  const accept = (name: string, given: string | SecretValue): SecretValue | undefined => {
    const secret = typeof given === 'string' ? { value: given } : given;
    const problem = problemWith(secret.value);
    if (problem !== undefined) {
      current.delete(name);
      onWarning(`Secret ${name} ${problem}, so it cannot be hidden and is not used.`);
      return undefined;
    }
    matcher.add(name, secret.value);
    current.set(name, secret);
    return secret;
  };
  const load = async (name: string): Promise<SecretValue | undefined> => {
    const known = current.get(name);
    if (known !== undefined && (known.expiresAt === undefined || known.expiresAt > Date.now())) return known;
    const entry = entries.get(name);
    if (entry?.provider === undefined) return known;
    return accept(name, await entry.provider());
  };
  const refresh = async (more: Readonly<Record<string, SecretOptions>>) => {
    for (const [name, entry] of Object.entries(more)) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        onWarning(`Secret ${JSON.stringify(name)} has a name that no variable can have, so it is not used.`);
        continue;
      }
      checkSecret(name, entry);
      checkPatterns(entry.commands);
      entries.set(name, entry);
      current.delete(name);
      if (entry.value === undefined) await load(name);
      else accept(name, entry.value);
    }
  };
  await refresh(secrets);
  return {
    mask: createMask(matcher),
    refresh,
    async prepare(given, context = {}) {
      const kinds = definitionOf(given, context)?.kinds ?? {};
      const table = Object.keys(kinds).find((field) => kinds[field] === 'environment');
      if (table === undefined && !Object.values(kinds).some(holdsReferences)) return given;
      const action = await fillReferences(given, kinds, { entries, load });
      if (table === undefined) return action;
      const added: Record<string, string> = {};
      for (const [name, entry] of entries) {
        if (entry.reach !== 'env' || !mayReceive(name, entry.commands, action, context)) continue;
        const secret = await load(name);
        if (secret !== undefined) added[name] = secret.value;
      }
      if (Object.keys(added).length === 0) return action;
      return { ...action, [table]: { ...(action[table] as Record<string, string> | undefined), ...added } };
    },
    bound: () =>
      [...entries].flatMap(([name, { reach, hosts = [], body }]) =>
        reach === 'network' ? [{ name, hosts, body, value: async () => (await load(name))?.value }] : [],
      ),
    async credential(name, host) {
      const hosts = entries.get(name)?.hosts ?? [];
      // A host without a port means all its ports.
      const isNamed = hosts.includes(host) || hosts.includes(host.replace(/:\d+$/, ''));
      const secret = isNamed ? await load(name) : undefined;
      if (secret !== undefined) return secret.value;
      throw new WorkcellError(
        'denied',
        `Secret ${JSON.stringify(name)} may not go to ${JSON.stringify(host)}: there is no such secret, or its hosts do not name that server.`,
        { details: { secret: name, host } },
      );
    },
  };
}

function problemWith(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'has no text as its value';
  if (value.replace(/[\r\n]/g, '').length < shortestSecret)
    return `is shorter than ${shortestSecret} characters`;
  if (value.includes('\0')) return 'contains a NUL character';
  if (new Set(value).size < 3) return 'has fewer than three different characters';
  return undefined;
}
