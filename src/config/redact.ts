/** Hides what must not reach a screen or a log: secrets, and the values of environment variables. */
import { isTable } from './plain-table.js';

const secretName = /(^|_)(key|token|secret|password|credentials?)$/i;
const variablesName = /(^|_)(env|env_vars|environment)$/i;

const hidden = '[hidden]';

/** The value of a setting in a form that may be shown. Tables of variables keep their names. */
export function redact(key: string, value: unknown): unknown {
  const name = key.split('.').at(-1) ?? key;
  if (value === undefined || value === null) return value;
  if (variablesName.test(name)) return isTable(value) ? mapValues(value, () => hidden) : hidden;
  if (secretName.test(name)) return hidden;
  // An address may carry a password between its user and its host.
  if (typeof value === 'string') return value.replace(/^([a-z+]+:\/\/[^\s/:@]*):[^\s/]*@/i, `$1:${hidden}@`);
  return isTable(value) ? mapValues(value, (entry, inner) => redact(inner, entry)) : value;
}

function mapValues(table: Record<string, unknown>, change: (value: unknown, name: string) => unknown) {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, change(value, name)]));
}
