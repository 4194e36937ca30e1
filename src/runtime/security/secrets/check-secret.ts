import { WorkcellError } from '../../../protocol/errors.js';
import { checkKnown } from '../../../protocol/known-keys.js';
import type { SecretOptions } from './secrets.js';

const keys = ['value', 'provider', 'reach', 'commands', 'hosts', 'body'];
const reaches = ['none', 'env', 'network'];

/** Refuses a secret that nobody would hide, or that would reach something else than its author meant. */
export function checkSecret(name: string, entry: SecretOptions): void {
  // A text in its place is the value itself, which no message may show.
  if (typeof entry !== 'object' || entry === null)
    throw refusal(name, 'must be an object: { value: … }, or { provider: () => … }');
  checkKnown(`Secret ${name}`, entry, keys);
  const { value, provider, reach } = entry;
  if (value === undefined && typeof provider !== 'function')
    throw refusal(name, 'has neither a value nor a provider');
  if (reach !== undefined && !reaches.includes(reach))
    throw refusal(name, `has the reach ${JSON.stringify(reach)}; accepted: ${reaches.join(', ')}`);
}

function refusal(name: string, problem: string): WorkcellError {
  return new WorkcellError('invalid-config', `Secret ${name} ${problem}.`, { details: { secret: name } });
}
