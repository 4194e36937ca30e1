/** What the facade keeps with each cell that it created, and the two tokens that open the cell. */
import { createHmac } from 'node:crypto';
import * as z from 'zod';
import type { CellRecord } from '../../service/service-store.js';

/** Clients compare it with what they need of a sandbox. */
export const envdVersion = '0.6.13';

const factsSchema = z.object({
  protocol: z.literal('e2b'),
  /** As the client named it. */
  template: z.string(),
  metadata: z.record(z.string(), z.string()),
  /** Whether processes and files need a token. */
  secure: z.boolean(),
  /** Whether ports need one. */
  private: z.boolean(),
  autoPause: z.boolean(),
  /** Whether a timeout keeps processes. */
  autoPauseMemory: z.boolean(),
  autoResume: z.boolean(),
  network: z.record(z.string(), z.unknown()).optional(),
  allowInternetAccess: z.boolean().optional(),
});

export type StoredFacts = z.output<typeof factsSchema>;

export interface Sandbox {
  readonly record: CellRecord;
  readonly facts: StoredFacts;
  /** Opens processes and files. Absent for a sandbox that needs none. */
  readonly accessToken: string | undefined;
  /** Opens the ports of a sandbox without public traffic. */
  readonly trafficToken: string | undefined;
}

/**
 * Undefined for a cell that another protocol created: it is no sandbox to these clients. The secret of the service
 * determines the tokens, so that nobody has to keep them.
 */
export function sandboxOf(record: CellRecord, secret: string): Sandbox | undefined {
  const { facade, id } = record;
  if (facade?.protocol !== 'e2b') return undefined;
  const known = derived.get(facade);
  if (known?.id === id) return { record, ...known.sandbox };
  const facts = factsSchema.parse(facade);
  const token = (purpose: string) =>
    createHmac('sha256', secret).update(`e2b ${purpose} ${id}`).digest('base64url');
  const sandbox = {
    facts,
    accessToken: facts.secure ? token('access') : undefined,
    trafficToken: facts.private ? token('traffic') : undefined,
  };
  derived.set(facade, { id, sandbox });
  return { record, ...sandbox };
}

/** Some requests look at all sandboxes. What is kept with a cell is replaced when it changes. */
const derived = new WeakMap<object, { id: string; sandbox: Omit<Sandbox, 'record'> }>();
