/** Combines the trusted side of the settings with the options of code. */
import type { SecuritySettings } from '../../protocol/config-security.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Analyzer } from './analyzers/analyzer.js';
import type { SecretOptions, Secrets } from './secrets/secrets.js';
import type { RuntimePolicy, TrustedOptions } from './trusted.js';

export interface TrustedSettings {
  readonly security: SecuritySettings;
  /** With their values. */
  readonly secrets: Readonly<Record<string, SecretOptions>>;
  /** The key of the model, where it needs one. */
  readonly llmKey?: string | undefined;
  /** Loads a guard that is neither `rules` nor `llm`. */
  readonly loadGuard: (name: string) => Promise<Analyzer>;
}

type Given = Pick<TrustedOptions, 'policy' | 'guards' | 'secrets' | 'audit'>;

/** Guards that settings name by a word. */
export const namedGuards = ['rules', 'llm'];

/**
 * Merges the options of code with the settings. Guards, secrets and rules add up, those of code first; for everything
 * else code wins. A policy that code passes as an object decides alone, with the guards of both.
 */
export async function withSettings(given: Given, settings: TrustedSettings): Promise<Given> {
  const { security } = settings;
  checkModel(security);
  const guards = await guardsOf(given.guards, settings);
  return {
    ...given,
    ...(guards !== undefined && { guards }),
    ...policyOf(given.policy, security),
    secrets: await secretsOf(given.secrets, settings),
    audit: given.audit ?? auditOf(security),
  };
}

/** A guard that the settings describe but do not use, or use but do not describe, is a mistake to report. */
function checkModel({ guards = [], llm }: SecuritySettings): void {
  if (guards.includes('llm') === (llm !== undefined)) return;
  throw new WorkcellError(
    'invalid-config',
    llm === undefined
      ? 'security.guards names "llm", and there is no model. Add [security.llm] with base_url, model and api_key.'
      : 'security.llm describes a model, and security.guards does not name "llm". Add it to the guards.',
    { details: { key: llm === undefined ? 'security.llm' : 'security.guards' } },
  );
}

async function guardsOf(
  given: readonly Analyzer[] | undefined,
  settings: TrustedSettings,
): Promise<readonly Analyzer[] | undefined> {
  const { guards: named, rule_files: files } = settings.security;
  // A user's own rules need the guard that judges by rules.
  const names = files === undefined ? named : [...(named ?? []), 'rules'];
  if (names === undefined) return given;
  const known = given ?? [];
  const isKnown = (name: string) => known.some((guard) => guard.name === name);
  const missing = [...new Set(names)].filter(
    (name) => !isKnown(name) || (name === 'rules' && files !== undefined),
  );
  return [...known, ...(await Promise.all(missing.map((name) => openGuard(name, settings))))];
}

async function openGuard(name: string, settings: TrustedSettings): Promise<Analyzer> {
  const { llm, rule_files: extend } = settings.security;
  if (name === 'rules') return (await import('./analyzers/rules.js')).rules({ extend });
  if (name !== 'llm' || llm === undefined) return settings.loadGuard(name);
  const { llmGuard } = await import('./llm-guard/llm-guard.js');
  return llmGuard({
    model: llm.model,
    baseUrl: llm.base_url,
    apiKey: settings.llmKey,
    threshold: llm.threshold,
    timeoutMs: toMs(llm.timeout),
  });
}

function policyOf(given: TrustedOptions['policy'], security: SecuritySettings): Pick<Given, 'policy'> {
  if (given !== undefined && 'judge' in given) return {};
  const { rules, on_risk: onRisk, mode, outside_workspace: outsideWorkspace, confirm } = security;
  const decides = [rules, onRisk, mode, outsideWorkspace, confirm].some((value) => value !== undefined);
  if (given === undefined && !decides) return {};
  const said: RuntimePolicy = {
    ...given,
    rules: [...(given?.rules ?? []), ...(rules ?? [])],
    onRisk: { ...onRisk, ...given?.onRisk } as RuntimePolicy['onRisk'],
    mode: given?.mode ?? mode,
    outsideWorkspace: given?.outsideWorkspace ?? outsideWorkspace,
    confirmTimeoutMs: given?.confirmTimeoutMs ?? toMs(security.confirm_timeout),
    analyzerTimeoutMs: given?.analyzerTimeoutMs ?? toMs(security.analyzer_timeout),
    pending: given?.pending ?? (confirm === 'store' ? 'store' : undefined),
  };
  return { policy: said };
}

async function secretsOf(
  given: TrustedOptions['secrets'],
  { secrets, llmKey }: TrustedSettings,
): Promise<TrustedOptions['secrets']> {
  // Do not hide a key that is too short to tell from other text.
  const key = llmKey === undefined || llmKey.length < 6 ? {} : { WORKCELL_LLM_KEY: { value: llmKey } };
  const own = { ...secrets, ...key };
  if (Object.keys(own).length === 0) return given;
  if (given === undefined || !isRegistry(given)) return { ...own, ...given };
  await given.refresh(own);
  return given;
}

function isRegistry(given: NonNullable<TrustedOptions['secrets']>): given is Secrets {
  return typeof given.prepare === 'function';
}

function auditOf({ audit }: SecuritySettings): TrustedOptions['audit'] {
  if (audit === undefined) return undefined;
  const { file, rotate_bytes: rotateBytes, sync, store } = audit;
  if (store !== undefined) return { store };
  return file === undefined ? undefined : { file, rotateBytes, sync };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}
