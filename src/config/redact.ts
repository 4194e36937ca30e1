/** Hides what must not reach a screen or a log: secrets, and the values of environment variables. */
import { isTable } from './plain-table.js';

const secretName =
  /(^|[_-])(keys?|credentials?|pat|pwd|auth|dsn)$|(^|[_-]|api|access|private)keys?$|(tokens?|secrets?)$|(^|[_-]|pg|db)pass(wd|words?|phrase)?$|passw(or)?d$/i;
const variablesName = /(^|_)(env|env_vars|environment|headers)$/i;
/** What a reference to a secret may show: its source and its receiver. */
const referenceNames = ['env', 'file', 'command', 'reach', 'commands', 'hosts'];

const hidden = '[hidden]';

/** The value of a setting in a form that we may show. Tables of variables keep their names. */
export function redact(key: string, value: unknown): unknown {
  const name = key.split('.').at(-1) ?? key;
  if (value === undefined || value === null) return value;
  if (key === 'secrets') return isTable(value) ? mapValues(value, redactReference) : hidden;
  if (variablesName.test(name)) return isTable(value) ? mapValues(value, () => hidden) : hidden;
  if (secretName.test(name)) return redactReference(value);
  if (typeof value === 'string') return redactAddress(value);
  if (Array.isArray(value))
    return value.map((entry, index) =>
      isFlagOfSecret(value[index - 1]) ? hidden : redactFlag(redact('', entry)),
    );
  return isTable(value) ? mapValues(value, (entry, inner) => redact(inner, entry)) : value;
}

/** True for a name that suggests a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** Shows where a secret comes from instead of its value. */
function redactReference(value: unknown): unknown {
  if (!isTable(value)) return hidden;
  return mapValues(value, (entry, name) => (referenceNames.includes(name) ? entry : hidden));
}

/** An address may carry a password between its user and its host, and a token behind its path. */
function redactAddress(text: string): string {
  return text
    .replace(/^([a-z+]+:\/\/[^\s/:@]*):[^\s/]*@/i, `$1:${hidden}@`)
    .replace(/^(https?:\/\/[^\s?]*)\?.*$/is, `$1?${hidden}`);
}

/** Programs take secrets as `--token x`, too. */
function isFlagOfSecret(word: unknown): boolean {
  return typeof word === 'string' && /^--?[\w-]+$/.test(word) && secretName.test(word);
}

function redactFlag(word: unknown): unknown {
  if (typeof word !== 'string') return word;
  const [, flag] = /^(--?[\w-]+)=/.exec(word) ?? [];
  return flag !== undefined && secretName.test(flag) ? `${flag}=${hidden}` : word;
}

function mapValues(table: Record<string, unknown>, change: (value: unknown, name: string) => unknown) {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, change(value, name)]));
}
