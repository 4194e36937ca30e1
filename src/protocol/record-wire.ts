/** What a service and its console say to each other about records and questions. */
import * as z from 'zod';
import { eventSchema, type WorkcellEvent } from './events.js';
import type { KeyRole } from './service-wire.js';

/** A browser cannot set headers of a WebSocket; this protocol and the key, in base64url, replace them. */
export const socketProtocol = 'workcell';
export const socketKeyPrefix = 'workcell.key.';

/** What a page can do here with its key. */
export interface ConsoleInfo {
  /** Whether there are cells to work with, and not records alone. */
  readonly cells: boolean;
  readonly role: KeyRole;
  readonly tenant: string;
}

/** A runtime whose events are in the store. */
interface RecordInfo {
  readonly id: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Ids of the oldest and the newest event. */
  readonly firstId: number;
  readonly lastId: number;
}

/** Some records, those that began last first. `next` is the `cursor` of the next page, where there is one. */
export interface RecordList {
  readonly records: readonly RecordInfo[];
  readonly next?: string | undefined;
}

export const recordsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** `next` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}\..{1,200}$/s, 'must be the `next` of a page')
    .transform((text) => {
      const dot = text.indexOf('.');
      return { at: Number(text.slice(0, dot)), id: text.slice(dot + 1) };
    })
    .optional(),
});

const eventKinds = eventSchema.options.map(({ shape }) => shape.kind.value);

export const recordQuery = z.strictObject({
  /** Only events after this id. */
  after: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(5000).default(1000),
  kind: z.enum(eventKinds).optional(),
  /** Text somewhere in the event's content. */
  text: z.string().min(1).max(1000).optional(),
  /** Leaves out the rest of long texts, and says so with `trimmed`. */
  brief: z.literal('1').optional(),
  /** Of the newest `limit` events of the record alone. */
  tail: z.literal('1').optional(),
});

/** A record as it grows. `output`: with what actions under way print, where the service works in the cell. */
export const followQuery = recordQuery.omit({ tail: true }).extend({ output: z.literal('1').optional() });

export const activityQuery = z.strictObject({
  /** With what each cell uses. */
  use: z.literal('1').optional(),
  /** This cell alone. */
  cell: z.string().max(100).optional(),
});

/** What an action under way printed, between the events of a followed record. The record has it when the action ends. */
export interface OutputLine {
  readonly kind: 'output';
  /** The id of the event of the action. */
  readonly cause: number;
  /** As it came, with escape sequences. */
  readonly text: string;
  /** Characters left out before it, because there were too many. */
  readonly skipped?: number | undefined;
}

/** What a cell uses. No event tells of it. */
export interface CellUse {
  readonly at: number;
  /** Processor time of the processes that are alive. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** An event of a list, perhaps with shortened texts. */
export type BriefEvent = WorkcellEvent & { readonly trimmed?: true };

/** Some events of a record. `next` is the `after` of the next page, where there may be one. */
export interface RecordPage {
  readonly events: readonly BriefEvent[];
  readonly next?: number | undefined;
}

/** What a cell did last. */
export interface Activity {
  readonly id: string;
  readonly lastId: number;
  readonly at: number;
  /** The last action, in a few words. */
  readonly action?: string | undefined;
  /** Of a cell that runs and that the service works in. */
  readonly use?: CellUse | undefined;
}

/** An action, or a host that a cell wants to reach, which waits for a person. */
export interface Question {
  readonly id: string;
  /** `host`: the action is `reach`, with `host` and `port`. */
  readonly kind?: 'host' | undefined;
  readonly cell?: string | undefined;
  /** True where an approval can hold for the cell; otherwise it counts once. */
  readonly forCell?: boolean | undefined;
  readonly action: { readonly action: string; readonly [field: string]: unknown };
  readonly risk: 'low' | 'medium' | 'unknown' | 'high';
  readonly reasons: readonly string[];
  readonly askedAt: number;
  readonly expiresAt: number;
}

export const answerSchema = z.strictObject({
  answer: z.enum(['approve', 'deny']),
  /** What an approval holds for: this action or connection, which is the default, or the cell. */
  scope: z.enum(['once', 'cell']).optional(),
  /** What the agent reads when an action is refused: the reason, or what to do instead. */
  word: z.string().trim().min(1).max(1000).optional(),
  /** Who decides, for the record. Default: the name of the key. */
  who: z.string().min(1).max(100).optional(),
});
