/** What the facade keeps with each cell that it created, and the tokens that open the cell. */
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
  /** The ids of the keys that made it or connected to it. Each has tokens of its own. */
  openedBy: z.array(z.string()).default([]),
});

export type StoredFacts = z.output<typeof factsSchema>;

/** What one key gets when it opens a sandbox. */
export interface SandboxTokens {
  /** Opens processes and files, where the sandbox is secure. */
  readonly access: string;
  /** Opens the ports of a private one. */
  readonly traffic: string;
}

export interface Sandbox {
  readonly record: CellRecord;
  readonly facts: StoredFacts;
  /** By the ids of the keys that they were given to, and worth as much as the key. */
  readonly tokens: ReadonlyMap<string, SandboxTokens>;
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
  const token = (purpose: string, key: string) =>
    createHmac('sha256', secret).update(`e2b ${purpose} ${id} ${key}`).digest('base64url');
  const tokens = new Map(
    facts.openedBy.map((key) => [key, { access: token('access', key), traffic: token('traffic', key) }]),
  );
  derived.set(facade, { id, sandbox: { facts, tokens } });
  return { record, facts, tokens };
}

/** Some requests look at all sandboxes. What is kept with a cell is replaced when it changes. */
const derived = new WeakMap<object, { id: string; sandbox: Omit<Sandbox, 'record'> }>();
