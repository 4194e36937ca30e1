/** The gateway of a cell with network rules. */
import type { z } from 'zod';
import type { NetworkSecret } from '../protocol/index.js';
import type { startRulesSchema } from '../protocol/network/network-schema.js';
import type { EgressGateway } from '../runtime/network/gateway.js';

/** Rules for the start of a cell, with their defaults. */
export type StartRules = z.output<typeof startRulesSchema>;

/** Loaded only where there are rules: most cells have none. */
export async function openGateway(
  { preset, ...rules }: StartRules,
  { workspace = '/', secrets }: { workspace?: string | undefined; secrets: readonly NetworkSecret[] },
): Promise<EgressGateway> {
  const { EgressGateway } = await import('../runtime/network/gateway.js');
  if (preset.length === 0) return new EgressGateway(rules, secrets);
  const { presetRequests, presetRules } = await import('../runtime/network/presets.js');
  return new EgressGateway(
    {
      ...rules,
      allow: [...rules.allow, ...(await presetRules(preset, workspace))],
      requests: [...rules.requests, ...(await presetRequests(preset, workspace))],
    },
    secrets,
  );
}
