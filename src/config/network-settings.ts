/** The section `network`, as rules for the start of a cell. */
import type { z } from 'zod';
import type { Config } from '../protocol/config.js';
import { WorkcellError } from '../protocol/index.js';
import {
  type NetworkPreset,
  networkPresets,
  type startRulesSchema,
} from '../protocol/network/network-schema.js';

type NetworkSettings = Config['network'];
type StartRules = z.input<typeof startRulesSchema>;

/** Undefined where the section has no rules. */
export function rulesIn(network: NetworkSettings): StartRules | undefined {
  const { allow, preset, ask, requests } = network;
  if ([allow, preset, ask, requests].every((value) => value === undefined)) return undefined;
  const known = withoutOwnPresets(preset ?? [], network);
  return {
    ...known,
    allow: [...(allow ?? []), ...known.allow],
    ask: ask ?? false,
    requests: requests ?? [],
  };
}

/** What counts with all rules that say nothing of it, those in code included. */
export function besideRules({ hosts, limits }: NetworkSettings): Pick<StartRules, 'hosts' | 'limits'> {
  return {
    ...(hosts !== undefined && { hosts }),
    ...(limits !== undefined && {
      limits: {
        ...(limits.connections !== undefined && { connections: limits.connections }),
        ...(limits.connections_per_second !== undefined && {
          connectionsPerSecond: limits.connections_per_second,
        }),
        ...(limits.sent_bytes !== undefined && { sentBytes: limits.sent_bytes }),
        ...(limits.received_bytes !== undefined && { receivedBytes: limits.received_bytes }),
        ...(limits.bytes_per_second !== undefined && { bytesPerSecond: limits.bytes_per_second }),
      },
    }),
  };
}

export function isPreset(word: string, { presets = {} }: NetworkSettings): boolean {
  return isKnown(word) || Object.hasOwn(presets, word);
}

/** The user's own presets become the hosts that they stand for. */
export function withoutOwnPresets(
  words: readonly string[],
  { presets = {} }: NetworkSettings,
): { preset: NetworkPreset[]; allow: string[] } {
  const own = words.filter((word) => !isKnown(word));
  const unknown = own.find((word) => !Object.hasOwn(presets, word));
  if (unknown !== undefined)
    throw new WorkcellError(
      'invalid-config',
      `There is no network preset ${JSON.stringify(unknown)}. Those of Workcell are ${networkPresets.join(', ')}; name yours in [network.presets].`,
      { details: { preset: unknown } },
    );
  return { preset: words.filter(isKnown), allow: own.flatMap((word) => presets[word] ?? []) };
}

function isKnown(word: string): word is NetworkPreset {
  return networkPresets.some((preset) => preset === word);
}
