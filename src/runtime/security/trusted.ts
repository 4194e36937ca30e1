/** Assembles the parts of the trusted side for a runtime. Loads only what the options need. */
import {
  type Action,
  type ActionDefinition,
  type ActionName,
  type Decision,
  type ErrorBody,
  type NetworkSecret,
  WorkcellError,
} from '../../protocol/index.js';
import type { Analyzer, JudgedAction } from './analyzers/analyzer.js';
import type { AuditLogOptions } from './audit/audit-log.js';
import type { AuditStoreOptions } from './audit/audit-store.js';
import type { StoreSource } from './policy/store-pending.js';
import type { Policy, PolicyOptions } from './policy/types.js';
import type { SecretMask } from './secrets/secret-mask.js';
import type { SecretOptions, Secrets } from './secrets/secrets.js';

export interface TrustedOptions {
  /** The name that the audit record gives the caller. */
  readonly who: string;
  readonly policy?: RuntimePolicy | Policy | undefined;
  readonly guards?: readonly Analyzer[] | undefined;
  readonly secrets?: Readonly<Record<string, SecretOptions>> | Secrets | undefined;
  readonly audit?: AuditLogOptions | AuditStoreOptions | undefined;
  /** Where the events go; absent when they stay in memory. */
  readonly store?: StoreSource | undefined;
}

/** A policy that can keep its questions with the events. */
export type RuntimePolicy = Omit<PolicyOptions, 'pending'> & {
  /**
   * `store`: with the events, which is the default where you give `confirm`. Without either, the policy asks nobody.
   */
  readonly pending?: PolicyOptions['pending'] | 'store';
};

export interface TrustedParts {
  readonly guards?:
    | readonly ReturnType<typeof import('./policy/policy-guard.js')['policyGuard']>[]
    | undefined;
  readonly mask?: SecretMask | undefined;
  readonly prepare?:
    | (<Name extends ActionName>(
        action: Action<Name>,
        definition: ActionDefinition | undefined,
      ) => Promise<Action<Name>>)
    | undefined;
  readonly credential?: ((name: string, host: string) => Promise<string>) | undefined;
  readonly boundSecrets?: readonly NetworkSecret[] | undefined;
  readonly audit?: ((effect: Effect) => void | Promise<void>) | undefined;
  readonly release?: (() => void) | undefined;
}

/** The outcome of an action. */
export interface Effect {
  readonly action: JudgedAction;
  readonly decision?: Decision | undefined;
  readonly observation?: unknown;
  readonly error?: ErrorBody | undefined;
}

export async function createTrusted(options: TrustedOptions): Promise<TrustedParts> {
  const { policy, guards, secrets, audit } = options;
  const secret = secrets === undefined ? {} : await openSecrets(secrets);
  return {
    ...(policy === undefined && guards === undefined
      ? {}
      : { guards: [await openPolicy(options, secret.mask)] }),
    ...secret,
    ...(audit === undefined ? {} : await openAudit(audit, options)),
  };
}

async function openPolicy(options: TrustedOptions, mask: SecretMask | undefined) {
  const { policy: given, guards } = options;
  const { policy } = await import('./policy/policy.js');
  const { policyGuard } = await import('./policy/policy-guard.js');
  if (given !== undefined && 'judge' in given) return policyGuard(given, guards);
  // The guards judge, together with the policy's own analyzers.
  const analyzers = guards === undefined ? given?.analyzers : [...guards, ...(given?.analyzers ?? [])];
  return policyGuard(policy({ ...given, analyzers, pending: await pendingOf(given, options, mask) }));
}

async function pendingOf(
  given: RuntimePolicy | undefined,
  { store, who }: TrustedOptions,
  mask: SecretMask | undefined,
): Promise<PolicyOptions['pending']> {
  const named = given?.pending;
  if (named !== undefined && named !== 'store') return named;
  if (named === undefined && given?.confirm === undefined) return undefined;
  if (store === undefined) {
    if (named === undefined) return undefined;
    throw new WorkcellError(
      'invalid-config',
      'policy.pending is "store", and this runtime keeps events in memory, where no question outlives it. Choose a store with events.store.',
      { details: { key: 'policy.pending' } },
    );
  }
  const { storePending } = await import('./policy/store-pending.js');
  return storePending({
    source: store,
    optional: named === undefined,
    runtimeId: who,
    mask: mask === undefined ? undefined : (action) => mask.value(action),
  });
}

async function openSecrets(given: Readonly<Record<string, SecretOptions>> | Secrets): Promise<TrustedParts> {
  const { createSecrets } = await import('./secrets/secrets.js');
  const secrets = isRegistry(given) ? given : await createSecrets(given);
  return {
    mask: secrets.mask,
    prepare: (action, definition) =>
      secrets.prepare(action as JudgedAction, { definition }) as Promise<never>,
    credential: (name, host) => secrets.credential(name, host),
    boundSecrets: secrets.bound(),
  };
}

function isRegistry(given: Readonly<Record<string, SecretOptions>> | Secrets): given is Secrets {
  return typeof given.prepare === 'function';
}

async function openAudit(
  options: AuditLogOptions | AuditStoreOptions,
  { who, store }: TrustedOptions,
): Promise<TrustedParts> {
  const { digestOf } = await import('./audit/record.js');
  const log = await ('store' in options
    ? import('./audit/audit-store.js').then(({ openAuditStore }) => openAuditStore(options, store))
    : import('./audit/audit-log.js').then(({ openAuditLog }) => openAuditLog(options)));
  const record = async ({ action, decision, observation, error }: Effect) => {
    await log.append({
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
