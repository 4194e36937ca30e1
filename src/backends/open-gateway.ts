/** The gateway of a cell with network rules. */
import type { z } from 'zod';
import type { NetworkSecret } from '../protocol/index.js';
import type { startRulesSchema } from '../protocol/network/network-schema.js';
import type { EgressGateway } from '../runtime/network/gateway.js';

/** Rules for the start of a cell, with their defaults. */
export type StartRules = z.output<typeof startRulesSchema>;

/** Loaded only where there are rules: most cells have none. */
export async function openGateway(
  given: StartRules,
  { workspace, secrets }: { workspace?: string | undefined; secrets: readonly NetworkSecret[] },
): Promise<EgressGateway> {
  const { EgressGateway } = await import('../runtime/network/gateway.js');
  const { preset: _preset, unenforced: _unenforced, ...rules } = await withoutPresets(given, workspace);
  return new EgressGateway(rules, secrets);
}

/** The same rules, with what the presets stand for in the process that asks: a keeper has another environment. */
export async function withoutPresets(rules: StartRules, workspace = '/'): Promise<StartRules> {
  const { preset, allow, requests } = rules;
  if (preset.length === 0) return rules;
  const { presetRequests, presetRules } = await import('../runtime/network/presets.js');
  return {
    ...rules,
    preset: [],
    allow: [...allow, ...(await presetRules(preset, workspace))],
    requests: [...requests, ...(await presetRequests(preset, workspace))],
  };
}
