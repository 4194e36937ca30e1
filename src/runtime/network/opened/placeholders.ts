/**
 * Secrets that stay outside. The cell has a placeholder for each; the gateway puts the value into requests to the hosts
 * that the secret is for, and refuses a request that carries a placeholder anywhere else.
 */
import { randomBytes } from 'node:crypto';
import type { NetworkSecret } from '../../../protocol/cell.js';
import type { Host } from '../../../protocol/network/host.js';
import { type HostRule, matchesHost, matchesPort, parseRule } from '../../../protocol/network/host-rule.js';

interface Placed extends NetworkSecret {
  readonly rules: readonly (HostRule & { readonly isPlain: boolean })[];
  readonly placeholder: string;
}

/** Where a request goes to. */
interface To {
  readonly host: Host;
  readonly port: number;
  readonly isSecure: boolean;
}

export class Placeholders {
  readonly #all: readonly Placed[];
  /** Those that are held while secrets are put in. */
  readonly bodies = new HeldBytes();

  constructor(secrets: readonly NetworkSecret[]) {
    this.#all = secrets.map((secret) => ({
      ...secret,
      rules: secret.hosts.map(readHost),
      placeholder: `workcell_secret_${randomBytes(16).toString('hex')}`,
    }));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** The variables that the cell has in their place. */
  get environment(): Record<string, string> {
    return Object.fromEntries(this.#all.map(({ name, placeholder }) => [name, placeholder]));
  }

  isFor(to: To): boolean {
    return this.#for(to).length > 0;
  }

  /** Whether a body for that host is to be looked through. */
  fillsBodies(to: To): boolean {
    return this.#for(to).some(({ body }) => body === true);
  }

  /** The headers with values in place. Throws an error whose message says what is wrong. */
  async fillHeaders(to: To, raw: readonly string[]): Promise<string[]> {
    const filled = [...raw];
    const values = await valuesOf(this.#for(to), raw);
    for (let index = 0; index + 1 < filled.length; index += 2) {
      if (/^(?:host|content-length|transfer-encoding|connection)$/i.test(filled[index] ?? '')) continue;
      filled[index + 1] = fillHeader(filled[index + 1] ?? '', values);
    }
    this.refuseIn(filled.map((text) => `${text}\n${decodedBasic(text) ?? ''}`).join('\n'));
    return filled;
  }

  async fillBody(to: To, body: Buffer): Promise<Buffer> {
    const secrets = this.#for(to).filter((secret) => secret.body === true);
    const text = body.toString('latin1');
    let filled = text;
    for (const [placeholder, value] of await valuesOf(secrets, [text]))
      filled = filled.replaceAll(placeholder, () => Buffer.from(value, 'utf8').toString('latin1'));
    this.refuseIn(filled);
    return filled === text ? body : Buffer.from(filled, 'latin1');
  }

  /** Throws when a placeholder is in a text that leaves as it is. */
  refuseIn(text: string): void {
    const found = this.#all.find(({ placeholder }) => text.includes(placeholder));
    if (found !== undefined)
      throw new Error(`It carries the placeholder of the secret ${found.name} to where that may not go`);
  }

  /** The same for bytes that come in pieces. */
  scan(): (chunk: Buffer) => void {
    let tail = '';
    return (chunk) => {
      const text = tail + chunk.toString('latin1');
      this.refuseIn(text);
      tail = text.slice(-longest);
    };
  }

  #for({ host, port, isSecure }: To): Placed[] {
    return this.#all.filter(({ rules }) =>
      rules.some(
        (rule) =>
          rule.isPlain !== isSecure &&
          matchesHost(rule, host) &&
          matchesPort(rule, port, [rule.isPlain ? 80 : 443]),
      ),
    );
  }
}

/** Bodies of one cell together: it can send many at once. */
const mostHeld = 33_554_432;

class HeldBytes {
  #bytes = 0;

  share(): { add(bytes: number): void; release(): void } {
    let own = 0;
    return {
      add: (bytes) => {
        own += bytes;
        this.#bytes += bytes;
        if (this.#bytes > mostHeld) throw new Error('Too many bodies wait for secrets to be put in');
      },
      release: () => {
        this.#bytes -= own;
        own = 0;
      },
    };
  }
}

/** A secret goes over TLS, unless its host is written with `http://` in front. */
function readHost(text: string): HostRule & { readonly isPlain: boolean } {
  const plain = /^http:\/\/(.*)$/s.exec(text)?.[1];
  return { ...parseRule(plain ?? text), isPlain: plain !== undefined };
}

const longest = 'workcell_secret_'.length + 32 - 1;

/** Only of those that are there: a provider may take long. */
async function valuesOf(secrets: readonly Placed[], texts: readonly string[]): Promise<[string, string][]> {
  const values: [string, string][] = [];
  for (const { name, placeholder, value } of secrets) {
    if (!texts.some((text) => text.includes(placeholder) || decodedBasic(text)?.includes(placeholder)))
      continue;
    const found = await value();
    if (found === undefined) throw new Error(`The secret ${name} has no value`);
    values.push([placeholder, found]);
  }
  return values;
}

function fillHeader(text: string, values: readonly [string, string][]): string {
  const basic = decodedBasic(text);
  let [plain, credentials] = [text, basic];
  for (const [placeholder, value] of values) {
    if (credentials?.includes(placeholder)) credentials = credentials.replaceAll(placeholder, () => value);
    if (!plain.includes(placeholder)) continue;
    if (/[^\t\x20-\x7e]/.test(value)) throw new Error('The value of a secret cannot stand in a header');
    plain = plain.replaceAll(placeholder, () => value);
  }
  if (credentials === basic || credentials === undefined) return plain;
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
}

/** User and password of a header with HTTP basic authentication. */
function decodedBasic(text: string): string | undefined {
  const encoded = /^\s*basic\s+([\w+/=-]+)\s*$/i.exec(text)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}
