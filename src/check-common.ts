/** Checks the options that are the same on every backend: programs in JavaScript have no compiler that would. */
import type { CommonOptions } from './assemble.js';
import { WorkcellError } from './protocol/errors.js';
import { checkKnown } from './protocol/known-keys.js';
import { didYouMean, nearest } from './protocol/nearest.js';
import type { StoreOptions } from './runtime/events/open.js';
import type { AuditLogOptions, AuditStoreOptions } from './runtime/security/index.js';

type Form = 'list' | 'object' | 'any';

const forms: Record<keyof Required<CommonOptions>, Form> = {
  config: 'any',
  onStatus: 'any',
  logger: 'any',
  signal: 'any',
  minIsolation: 'any',
  policy: 'object',
  guards: 'list',
  secrets: 'object',
  plugins: 'list',
  mcp: 'object',
  tools: 'list',
  audit: 'object',
  askNetwork: 'any',
  rememberHosts: 'any',
  events: 'object',
};

const auditOptions: Record<keyof Required<AuditLogOptions> | keyof AuditStoreOptions, true> = {
  file: true,
  rotateBytes: true,
  sync: true,
  store: true,
};

const eventOptions: Record<keyof Required<StoreOptions>, true> = {
  store: true,
  durability: true,
  retentionDays: true,
  maxBytes: true,
  drivable: true,
};

const commonNames: readonly string[] = Object.keys(forms);

/** Refuses a common option of another form, which would otherwise count for nothing or break far from here. */
export function checkCommon(options: CommonOptions): void {
  for (const [name, form] of Object.entries(forms)) {
    const value = options[name as keyof CommonOptions];
    if (value === undefined || form === 'any') continue;
    if (form === 'list' ? Array.isArray(value) : isObject(value)) continue;
    throw new WorkcellError(
      'invalid-config',
      `The option "${name}" must be ${form === 'list' ? 'a list: [ … ]' : 'an object: { … }'}.`,
      { details: { option: name } },
    );
  }
  const { audit } = options;
  if (audit !== undefined) {
    checkKnown('The option "audit"', audit, Object.keys(auditOptions));
    if (!('store' in audit) && typeof audit.file !== 'string')
      throw new WorkcellError(
        'invalid-config',
        'The option "audit" names no file and no store: give { file }, or { store }.',
        {
          details: { option: 'audit' },
        },
      );
  }
  if (options.events !== undefined)
    checkKnown('The option "events"', options.events, Object.keys(eventOptions));
}

/** Refuses an option that nothing reads. `own`: what the backend reads besides the common ones. */
export function checkNames(given: object, own: readonly string[], backend: string | undefined): void {
  const accepted = [...commonNames, ...own];
  const unknown = Object.entries(given).find(([name, set]) => set !== undefined && !accepted.includes(name));
  if (unknown === undefined) return;
  const [option] = unknown;
  const where = backend === undefined ? '' : ` of backend "${backend}"`;
  throw new WorkcellError(
    'invalid-config',
    `There is no option "${option}"${where}.${didYouMean(nearest(option, accepted))} Accepted: ${accepted.join(', ')}.`,
    { details: { option, ...(backend !== undefined && { backend }) } },
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
