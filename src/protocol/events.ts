import * as z from 'zod';
import { errorSchema } from './error-body.js';
import { networkRecordSchema } from './network/network-schema.js';
import { statusSchema } from './status.js';

const eventSources = ['agent', 'user', 'environment'] as const;

const base = {
  /** Position in the stream of its runtime, from 1, without gaps. */
  id: z.int().positive(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  runtimeId: z.string(),
  source: z.enum(eventSources),
};

/** The decision about an action before it runs. `pending` means that a person has to answer. */
const decisionSchema = z.object({
  at: z.number(),
  outcome: z.enum(['allow', 'deny', 'pending']),
  /** What decided: a rule, the risk, the workspace boundary, a guard, a person, or the lack of an answer. */
  by: z.enum(['rule', 'risk', 'boundary', 'guard', 'person', 'timeout', 'nobody']),
  who: z.string().optional(),
  risk: z.enum(['low', 'medium', 'unknown', 'high']),
  reasons: z.array(z.string()).readonly(),
  verdicts: z
    .array(
      z.object({
        analyzer: z.string(),
        risk: z.enum(['low', 'medium', 'unknown', 'high']),
        reasons: z.array(z.string()).readonly(),
        refused: z.boolean().optional(),
      }),
    )
    .readonly(),
  policyVersion: z.string(),
  requestId: z.string().optional(),
});

/** Says that an action is still at work, and how much output it has so far. */
const progressMarkSchema = z.object({
  /** Pieces of progress. */
  pieces: z.int().positive(),
  /** Bytes of output. */
  outputBytes: z.int().nonnegative(),
});

/** What became of the files of a workspace, and where they came from. */
const checkpointRecordSchema = z.object({
  /**
   * `began`: this runtime is a fork, and started from that checkpoint of another runtime. `skipped`: an automatic checkpoint
   * was not possible.
   */
  change: z.enum(['created', 'removed', 'rewound', 'forked', 'began', 'applied', 'merged', 'skipped']),
  /**
   * The checkpoint that the runtime created, removed, went back to or forked from, or whose files it applied or
   * merged.
   */
  id: z.string().optional(),
  label: z.string().optional(),
  /** The checkpoint before it in its line. */
  parent: z.string().optional(),
  /** The other runtime of a fork or a merge. */
  runtime: z.string().optional(),
  /** The checkpoint that keeps what was there before going back. */
  recovery: z.string().optional(),
  /** The directory that got the changes. */
  directory: z.string().optional(),
  files: z.int().optional(),
  bytes: z.int().optional(),
  conflicts: z.int().optional(),
  /** Why an automatic checkpoint was not possible: the code of its error. */
  reason: z.string().optional(),
});

/** What a record says about checkpoints, forks and merged changes. */
export type CheckpointRecord = z.infer<typeof checkpointRecordSchema>;

/** One thing that happened in a runtime. `cause` is the id of the action event that led to it. */
export const eventSchema = z.discriminatedUnion('kind', [
  z.object({ ...base, kind: z.literal('action'), action: z.looseObject({ action: z.string() }) }),
  z.object({
    ...base,
    kind: z.literal('observation'),
    cause: z.int(),
    observation: z.looseObject({ observation: z.string() }),
  }),
  z.object({ ...base, kind: z.literal('decision'), cause: z.int(), decision: decisionSchema }),
  z.object({ ...base, kind: z.literal('error'), cause: z.int(), error: errorSchema }),
  z.object({ ...base, kind: z.literal('progress'), cause: z.int(), progress: progressMarkSchema }),
  z.object({ ...base, kind: z.literal('status'), status: statusSchema }),
  z.object({ ...base, kind: z.literal('network'), network: networkRecordSchema }),
  z.object({ ...base, kind: z.literal('checkpoint'), checkpoint: checkpointRecordSchema }),
]);

/** The outcome of judging an action, as the record has it. */
export type Decision = z.infer<typeof decisionSchema>;

/** An entry of the record. */
export type WorkcellEvent = z.infer<typeof eventSchema>;

/** Who caused an event: the agent, a person or the environment. */
export type EventSource = (typeof eventSources)[number];
