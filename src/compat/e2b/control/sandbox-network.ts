/** What a sandbox may reach: as its template says, or less if its client asks for that. */
import type { Runtime } from '../../../index.js';
import { type NetworkRules, networkRulesSchema } from '../../../protocol/network/network-schema.js';
import type { Template } from '../../../service/templates.js';
import { E2bError } from '../e2b-errors.js';
import type { StoredFacts } from '../e2b-sandbox.js';
import type { NetworkRequest, NewSandbox } from './sandbox-schemas.js';

const everything = ['**', '0.0.0.0/0', '::/0'];
const allAddresses = '0.0.0.0/0';

interface Asked extends NetworkRequest {
  readonly allow_internet_access?: boolean | null | undefined;
}

/** `network`: in the place of what the template says. */
export function networkFor(
  template: Template,
  { network, allow_internet_access }: NewSandbox,
  tenant: string,
): { network?: NetworkRules | 'none'; allowInternetAccess: boolean } {
  const given = template.options(tenant, {}).network ?? 'none';
  const isOpen = given === 'open' || given === 'host';
  const rules = rulesOf({ ...network, allow_internet_access });
  if (rules === undefined) {
    if (allow_internet_access === true && given === 'none')
      throw new E2bError(
        400,
        `The template "${template.name}" has no network; the operator of this server can give it one.`,
      );
    return { allowInternetAccess: given !== 'none' };
  }
  if (rules.allow.length === 0) return { network: 'none', allowInternetAccess: false };
  if (!isOpen)
    throw new E2bError(
      400,
      `The network of the template "${template.name}" is not open, so that a client cannot choose rules of its own.`,
    );
  return { network: rules, allowInternetAccess: true };
}

/** What a fork gets in the place of what its template says: no more than its source may reach now. */
export function networkOfFork(
  template: Template,
  { template: templateID, network, allowInternetAccess }: StoredFacts,
  tenant: string,
): NetworkRules | 'none' | undefined {
  const allow_internet_access = allowInternetAccess === false ? false : undefined;
  return networkFor(template, { templateID, network, allow_internet_access }, tenant).network;
}

/** Replaces the network rules of a sandbox, within what its template allows. */
export async function changeNetwork(
  runtime: Pick<Runtime, 'network'>,
  asked: Asked,
  template: Template,
  tenant: string,
): Promise<void> {
  const given = template.options(tenant, {}).network ?? 'none';
  if (given !== 'open' && given !== 'host' && asked.allow_internet_access !== false)
    throw new E2bError(
      400,
      `The network of the template "${template.name}" is not open, so that a client cannot choose rules of its own.`,
    );
  if (runtime.network.rules() === undefined)
    throw new E2bError(400, 'The sandbox was made without rules on its network, so that they cannot change.');
  await runtime.network.set(rulesOf(asked) ?? { allow: everything, deny: [] });
}

/** Undefined when the client asks for nothing. Allowed names win over denied addresses. */
function rulesOf(asked: Asked): { allow: string[]; deny: string[] } | undefined {
  if (asked.rules !== undefined || asked.egressProxy != null)
    throw new E2bError(
      400,
      'This server neither changes requests (rules) nor sends them through an egressProxy.',
    );
  if (asked.allow_internet_access === false) return { allow: [], deny: [] };
  const { allowOut = [], denyOut = [] } = asked;
  if (allowOut.length === 0 && denyOut.length === 0) return undefined;
  const isClosed = denyOut.includes(allAddresses);
  const hasName = allowOut.some((rule) => /[a-z]/i.test(rule.replace(/^\[.*|^[\da-f:]+(\/\d+)?$/i, '')));
  if (hasName && !isClosed) throw new E2bError(400, `Domains in allowOut need ${allAddresses} in denyOut.`);
  const rules = isClosed
    ? { allow: allowOut, deny: [] }
    : { allow: everything, deny: denyOut.filter((rule) => !allowOut.includes(rule)) };
  const { error } = networkRulesSchema.safeParse(rules);
  if (error !== undefined) throw new E2bError(400, error.issues.map(({ message }) => message).join('; '));
  return rules;
}
