/** Puts the parts of the trusted side together for a runtime. What is not asked for is not loaded. */
import type { Action, ActionName, Decision, ErrorBody } from '../protocol/index.js';
import type { Analyzer, JudgedAction } from './analyzers/analyzer.js';
import type { AuditLogOptions } from './audit/log.js';
import type { Policy, PolicyOptions } from './policy/types.js';
import type { SecretMask } from './secrets/mask.js';
import type { SecretOptions, Secrets } from './secrets/secrets.js';

export interface TrustedOptions {
  /** Who the audit record says has asked. */
  readonly who: string;
  readonly policy?: PolicyOptions | Policy | undefined;
  readonly guards?: readonly Analyzer[] | undefined;
  readonly secrets?: Readonly<Record<string, SecretOptions>> | Secrets | undefined;
  readonly audit?: AuditLogOptions | undefined;
}

export interface TrustedParts {
  readonly guards?: readonly ReturnType<typeof import('./policy/guard.js')['policyGuard']>[] | undefined;
  readonly mask?: SecretMask | undefined;
  readonly prepare?: (<Name extends ActionName>(action: Action<Name>) => Promise<Action<Name>>) | undefined;
  readonly credential?: ((name: string, host: string) => Promise<string>) | undefined;
  readonly audit?: ((effect: Effect) => void) | undefined;
  readonly release?: (() => void) | undefined;
}

/** What came of an action. */
export interface Effect {
  readonly action: JudgedAction;
  readonly decision?: Decision | undefined;
  readonly observation?: unknown;
  readonly error?: ErrorBody | undefined;
}

export async function createTrusted(options: TrustedOptions): Promise<TrustedParts> {
  const { policy, guards, secrets, audit, who } = options;
  return {
    ...(policy === undefined && guards === undefined ? {} : { guards: [await openPolicy(policy, guards)] }),
    ...(secrets === undefined ? {} : await openSecrets(secrets)),
    ...(audit === undefined ? {} : await openAudit(audit, who)),
  };
}

async function openPolicy(
  given: PolicyOptions | Policy | undefined,
  guards: readonly Analyzer[] | undefined,
) {
  const { policy } = await import('./policy/policy.js');
  const { policyGuard } = await import('./policy/guard.js');
  if (given !== undefined && 'judge' in given) return policyGuard(given, guards);
  // The guards are those that judge; the policy's own analyzers come to them.
  const analyzers = guards === undefined ? given?.analyzers : [...guards, ...(given?.analyzers ?? [])];
  return policyGuard(policy({ ...given, analyzers }));
}

async function openSecrets(given: Readonly<Record<string, SecretOptions>> | Secrets): Promise<TrustedParts> {
  const { createSecrets } = await import('./secrets/secrets.js');
  const secrets = isRegistry(given) ? given : await createSecrets(given);
  return {
    mask: secrets.mask,
    prepare: (action) => secrets.prepare(action as JudgedAction) as Promise<never>,
    credential: (name, host) => secrets.credential(name, host),
  };
}

function isRegistry(given: Readonly<Record<string, SecretOptions>> | Secrets): given is Secrets {
  return typeof given.prepare === 'function';
}

async function openAudit(options: AuditLogOptions, who: string): Promise<TrustedParts> {
  const { openAuditLog } = await import('./audit/log.js');
  const { digestOf } = await import('./audit/record.js');
  const log = openAuditLog(options);
  const record = ({ action, decision, observation, error }: Effect) => {
    log.append({
      who,
      action,
      outcome: decision?.outcome ?? 'allow',
      by: decision?.by ?? 'nobody',
      decidedBy: decision?.who,
      risk: decision?.risk,
      reasons: decision === undefined ? undefined : [...decision.reasons],
      verdicts: decision === undefined ? undefined : decision.verdicts.map((verdict) => ({ ...verdict })),
      policyVersion: decision?.policyVersion,
      outputDigest: observation === undefined ? undefined : digestOf(observation),
      error: error?.code,
    });
  };
  return { audit: record, release: () => log.close() };
}
