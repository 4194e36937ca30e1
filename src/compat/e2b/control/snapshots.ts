/** Checkpoints of the service that clients of E2B made, and the names that these know them by. */
import * as z from 'zod';
import type { SavedCheckpoints } from '../../../service/saved-checkpoints.js';
import type { CheckpointRecord, KeyRecord } from '../../../service/service-store.js';

/** What the facade keeps with a checkpoint. */
const factsSchema = z.object({
  protocol: z.literal('e2b'),
  /** That of its cell, in the words of the service. */
  template: z.string(),
  name: z.string().optional(),
});

export interface Snapshot {
  readonly record: CheckpointRecord;
  readonly facts: { readonly template: string; readonly name?: string | undefined };
}

/** Those that a key may see, the newest first. */
export function snapshotsOf(
  saved: SavedCheckpoints,
  { tenant, cell }: Pick<KeyRecord, 'tenant' | 'cell'>,
): Snapshot[] {
  return saved
    .list(tenant)
    .filter((record) => cell === undefined || record.cell === cell)
    .flatMap((record) => {
      const { data: facts } = factsSchema.safeParse(record.facade);
      return facts === undefined ? [] : [{ record, facts }];
    })
    .reverse();
}

export function findSnapshot(saved: SavedCheckpoints, asker: KeyRecord, asked: string): Snapshot | undefined {
  return snapshotsOf(saved, asker).find((one) => isCalled(one, asked));
}

/** By its id or its name, each with its tag or without. */
export function isCalled(one: Snapshot, asked: string): boolean {
  return nameOf(one) === tagged(asked) || hasId(one, asked);
}

export function hasId({ record }: Snapshot, asked: string): boolean {
  return tagged(record.id) === tagged(asked);
}

/** What clients call it: the name of a template with a tag. */
export function nameOf({ record, facts }: Snapshot): string {
  return tagged(facts.name ?? record.id);
}

function tagged(name: string): string {
  return name.includes(':') ? name : `${name}:default`;
}
