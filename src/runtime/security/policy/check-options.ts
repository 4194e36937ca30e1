/** Refuses a policy that does not say what its author meant: a misspelled condition would match every action. */
import { WorkcellError } from '../../../protocol/errors.js';
import { checkKnown } from '../../../protocol/known-keys.js';
import type { PolicyOptions, PolicyRule } from './types.js';

const options: Record<keyof Required<PolicyOptions>, true> = {
  rules: true,
  onRisk: true,
  mode: true,
  confirm: true,
  confirmTimeoutMs: true,
  pending: true,
  outsideWorkspace: true,
  analyzers: true,
  analyzerTimeoutMs: true,
  onDecision: true,
  version: true,
};

const conditions: Record<keyof Required<PolicyRule>, true> = {
  decision: true,
  reason: true,
  action: true,
  command: true,
  path: true,
  host: true,
  tool: true,
  risk: true,
};

const outcomes = ['allow', 'confirm', 'deny'];
const risks = ['low', 'medium', 'high', 'unknown'];

export function checkOptions(given: PolicyOptions): void {
  checkKnown('policy', given, Object.keys(options));
  const { onRisk = {}, rules = [], mode, outsideWorkspace } = given;
  checkKnown('policy.onRisk', onRisk, risks);
  for (const [risk, outcome] of Object.entries(onRisk)) checkWord(`onRisk.${risk}`, outcome, outcomes);
  checkWord('mode', mode, ['by-risk', 'always', 'never']);
  checkWord('outsideWorkspace', outsideWorkspace, ['confirm', 'deny']);
  if ((onRisk.unknown as string | undefined) === 'allow')
    throw refusal('onRisk.unknown = "allow" is not accepted: confirm or deny what nobody could judge.');
  if (!Array.isArray(rules)) throw refusal('policy.rules must be a list of rules.');
  for (const rule of rules) checkRule(rule);
}

function checkRule(rule: PolicyRule): void {
  checkKnown('A rule', rule, Object.keys(conditions));
  const { decision, risk } = rule;
  if (!outcomes.includes(decision))
    throw refusal(`A rule decides ${JSON.stringify(decision)}; accepted: ${outcomes.join(', ')}.`);
  const named = risk === undefined ? [] : [risk].flat();
  for (const one of named) checkWord('The risk of a rule', one, risks);
  if (decision === 'allow' && named.includes('unknown'))
    throw refusal('A rule cannot allow risk "unknown": confirm or deny what nobody could judge.');
}

function checkWord(what: string, word: unknown, accepted: readonly string[]): void {
  if (word === undefined || accepted.includes(word as string)) return;
  throw refusal(`${what} = ${JSON.stringify(word)} is not accepted. Accepted: ${accepted.join(', ')}.`);
}

function refusal(message: string): WorkcellError {
  return new WorkcellError('invalid-config', message);
}
