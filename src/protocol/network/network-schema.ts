/** The option `network`, and the state of a cell's network. */
import * as z from 'zod';
import { kindOf, parseRange } from './address.js';
import { parseWrittenHost } from './host.js';
import { parseRule } from './host-rule.js';

const ruleSchema = z.string().superRefine((text, context) => {
  try {
    parseRule(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

const most = 1000;

/** A list of rules. */
export const ruleListSchema = z.array(ruleSchema).max(most);

/** An address, and a port behind it if it differs from the requested one. */
const placeSchema = z
  .string()
  .refine(
    (text) => readPlace(text) !== undefined,
    'must be an address, and a port if need be: 127.0.0.1:8080',
  );

/** Requests that a host takes. The gateway opens the TLS of such hosts to read them. */
export const requestRuleSchema = z.strictObject({
  /** As in `allow`, which it need not be in as well. */
  host: ruleSchema,
  /** Default: every method. */
  methods: z
    .array(z.string().regex(/^[A-Z]{1,20}$/, 'must be a method such as GET'))
    .min(1)
    .optional(),
  /** `*` stays between slashes, `**` does not. Default: every path. */
  paths: z
    .array(
      z
        .string()
        .regex(/^\/[\x21-\x7e]*$/, 'must be a path such as /api/**')
        .max(1024),
    )
    .min(1)
    .optional(),
});

/** Requests that a host takes, and no others. */
export type RequestRule = z.output<typeof requestRuleSchema>;

/** Where names lead to. */
export const hostsSchema = z
  .record(
    z.string().refine((name) => isName(name), 'must be the name of a host'),
    placeSchema,
  )
  .refine((hosts) => Object.keys(hosts).length <= most, `must have at most ${most} names`);

/** How long a connection waits for the answer to a question. Programs give up by themselves much later, or not at all. */
export const hostAnswerMs = 120_000;

/** What a cell may reach. It refuses everything else; `deny` wins over `allow`. */
export const networkRulesSchema = z.strictObject({
  /** Hosts, with ports behind a colon; 80 and 443 without. */
  allow: ruleListSchema.default([]),
  /** The same; without ports it refuses all of them. */
  deny: ruleListSchema.default([]),
  /** The same as in `allow`: beyond these it reaches nothing, whatever else allows it. Cannot be taken back or changed. */
  within: ruleListSchema.optional(),
  /** Hosts of which only these requests pass, in HTTP/1. */
  requests: z.array(requestRuleSchema).max(most).default([]),
  /** Ask about a host that no rule covers. The runtime decides who answers. */
  ask: z.boolean().default(false),
  /** The address of a name, instead of the answer of this machine's resolver. */
  hosts: hostsSchema.default({}),
  limits: z
    .strictObject({
      /** Connections at one time. */
      connections: z.int().min(1).max(16_384).default(1024),
      /** Bytes that the cell sends, in all of its connections together. Default: no limit. */
      sentBytes: z.int().positive().optional(),
      /** Bytes that it receives. Default: no limit. */
      receivedBytes: z.int().positive().optional(),
      /** New connections in a second. Default: no limit. */
      connectionsPerSecond: z.int().positive().optional(),
      /** Bytes in a second, each way, in all connections together. Default: no limit. */
      bytesPerSecond: z.int().positive().optional(),
    })
    .prefault({}),
});

/** Tools whose own settings say what they reach. */
export const networkPresets = ['npm', 'pip', 'cargo', 'maven', 'go', 'apt', 'git', 'git-read'] as const;

/** A tool whose own settings say what it reaches. */
export type NetworkPreset = (typeof networkPresets)[number];

/** The same for the start of a cell, where a tool can stand for the hosts that it needs. */
export const startRulesSchema = networkRulesSchema.extend({
  preset: z.array(z.enum(networkPresets)).default([]),
  /** Start where nothing can hold the rules, too; then the cell reaches everything, and its record says so. */
  unenforced: z.boolean().default(false),
});

/** Rules as you write them. */
export type NetworkRules = z.input<typeof networkRulesSchema>;

/** Rules with all defaults filled in. */
export type FullNetworkRules = z.output<typeof networkRulesSchema>;

/** What a cell may reach: nothing, everything that its machine reaches, or what rules say. */
export type NetworkOption = 'none' | 'open' | z.input<typeof startRulesSchema>;

/** One thing that happened on the network of a cell. */
const networkEventSchema = z.object({
  /**
   * `refused`: there was no connection. `failed`: the rules allow it, but nothing answered. `asked`: a person has to
   * answer.
   */
  outcome: z.enum(['opened', 'closed', 'refused', 'failed', 'asked']),
  /** The requested name or address; empty where the program gave none. */
  host: z.string(),
  port: z.int(),
  /** The address that we dialled. */
  address: z.string().optional(),
  /** The rule that decided. */
  rule: z.string().optional(),
  /** Why this side refused or ended it. */
  reason: z.string().optional(),
  /** Of `asked`: absent while the question is open. */
  answer: z.enum(['once', 'cell', 'always', 'deny', 'timeout', 'nobody', 'too-many']).optional(),
  /** The command that ran in the cell meanwhile, where there was just one. It tells, and proves nothing. */
  command: z.string().optional(),
  /** Which way it came: as any connection, or through a proxy. */
  via: z.enum(['direct', 'http-proxy', 'socks']),
  /** From the cell, and to it. */
  sentBytes: z.int().optional(),
  receivedBytes: z.int().optional(),
  durationMs: z.number().optional(),
  /** How many events with this outcome we dropped since the last recorded one, because there were too many. */
  unrecorded: z.int().optional(),
});

/** One thing that happened on the network of a cell. */
export type NetworkEvent = z.infer<typeof networkEventSchema>;

/** The same, and each change of the rules, as the record has them. */
export const networkRecordSchema = z.union([
  networkEventSchema,
  z.object({ outcome: z.literal('changed'), rules: networkRulesSchema }),
]);

/** What the record has of the network of a cell. */
export type NetworkRecord = z.infer<typeof networkRecordSchema>;

/** Reads an address with or without a port. Undefined for a name, and for what no cell may reach. */
export function readPlace(text: string): { address: string; port: number | undefined } | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? text;
  const range = parseRange(address);
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (range === undefined || address.includes('/') || kindOf(range) === 'metadata') return undefined;
  return port !== undefined && (port < 1 || port > 65_535) ? undefined : { address, port };
}

function isName(text: string): boolean {
  const host = parseWrittenHost(text);
  return host !== undefined && 'name' in host;
}
