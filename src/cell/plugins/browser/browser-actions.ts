/** The actions of the browser, and what a look at a page returns. */
import * as z from 'zod';
import { timeoutSchema, tokenHashSchema } from '../../../protocol/actions/common.js';
import { defineAction } from '../../../protocol/index.js';
import { parseSteps } from './language.js';
import { mostSteps, stepKinds, stepSchema } from './steps.js';

/** A step as a caller writes it. */
export type { StepInput as BrowserStep } from './steps.js';

/** The most that an observation holds of each kind. Never trust a page to send little. */
export const most = {
  textLength: 100_000,
  treeLength: 200_000,
  elements: 1000,
  pages: 16,
  notes: 50,
  noteLength: 2000,
  urlLength: 8192,
  imageLength: 40_000_000,
} as const;

const note = z.string().max(most.noteLength);
const url = z.string().max(most.urlLength);
const notes = <Item extends z.ZodType>(item: Item) => z.array(item).max(most.notes);

const imageSchema = z.object({
  mediaType: z.literal('image/png'),
  /** The picture itself, in base64. */
  data: z.string().max(most.imageLength),
  /** Where it lies in the cell; null when we could not write it there. */
  path: z.string().nullable(),
});

const elementSchema = z.object({
  bid: z.string(),
  tag: note,
  role: note.optional(),
  name: note.optional(),
  /** Left, top, width and height in the visible part of the page, in its pixels. */
  box: z.tuple([z.number(), z.number(), z.number(), z.number()]),
});

const input = {
  /** How long a page may take to load; after that you see it as it is then. */
  timeoutMs: timeoutSchema.max(600_000).default(30_000),
  screenshot: z.boolean().default(true),
  /** One more picture, with the id of each usable element drawn on it. */
  marks: z.boolean().default(false),
};

const output = {
  url,
  title: note,
  /** What a reader sees, as Markdown. */
  text: z.string().max(most.textLength),
  /** The accessibility tree: `[bid] role 'name' value='…', attribute`, one node on each line, indented by tabs. */
  tree: z.string().max(most.treeLength),
  /** True when text or tree is longer than this. */
  truncated: z.boolean(),
  /** True when the page had not finished loading. */
  loading: z.boolean(),
  /** The id of the element that has the focus. */
  focused: z.string().nullable(),
  /** What you can click or fill in, and is in view. */
  elements: z.array(elementSchema).max(most.elements),
  pages: z.array(z.object({ url, title: note, active: z.boolean() })).max(most.pages),
  lastAction: z.string().max(4 * most.noteLength),
  /** Why the last step failed; the browser did no step after it. */
  error: z
    .string()
    .max(4 * most.noteLength)
    .nullable(),
  screenshot: imageSchema.nullable(),
  marked: imageSchema.nullable(),
  downloads: notes(
    z.object({
      url,
      /** Where it lies in the cell; null when it did not arrive. */
      path: z.string().nullable(),
      sizeBytes: z.number(),
      state: z.enum(['completed', 'canceled', 'inProgress']),
    }),
  ),
  /** Dialogs of the page, and the answers. */
  dialogs: notes(z.object({ type: note, message: note, accepted: z.boolean() })),
  /** What the page tried to load and may not. */
  blocked: notes(z.object({ url, reason: note })),
  /** Errors of the page's own scripts. */
  pageErrors: notes(note),
  /** What `send_msg_to_user` and `report_infeasible` said. */
  messages: notes(z.object({ kind: z.enum(['message', 'infeasible']), text: z.string().max(1_048_576) })),
};

const browse = defineAction('browse', {
  summary: 'Opens an address, or a file of the cell, in the browser and describes what it shows.',
  get input() {
    return {
      /** An http or https address, or the path of a picture, PDF, sound or film in the cell. */
      url: z.string().min(1).max(most.urlLength),
      ...input,
    };
  },
  kinds: { url: 'address' },
  output,
});

const browseInteractive = defineAction('browse_interactive', {
  summary: 'Does something in the browser: calls of the BrowserGym language, or steps as a list.',
  get input() {
    return {
      /** Calls such as `click('12')`, one on each line. */
      code: z.string().min(1).max(1_048_576).optional(),
      steps: z.array(stepSchema).min(1).max(mostSteps).optional(),
      ...input,
    };
  },
  kinds: { code: { parse: parseSteps, as: { fields: stepKinds } }, steps: { fields: stepKinds } },
  output,
});

const openCdp = defineAction('open_cdp', {
  summary:
    'Opens a WebSocket on the loopback of the executor that speaks the DevTools protocol with the browser.',
  offered: 'for-owner',
  opensSession: true,
  get input() {
    return {
      /** The SHA-256 of a token. The caller keeps the token itself: nothing that we record or send holds it. The token is the path. */
      tokenHash: tokenHashSchema,
    };
  },
  kinds: { tokenHash: 'plain' },
  get output() {
    return {
      port: z.int().min(1).max(65_535),
      /** Which process listens. */
      process: z.string().max(100),
    };
  },
});

export type PageObservation = Omit<z.output<(typeof browse)['output']>, 'observation'>;

export const browserActions = {
  browse,
  browse_interactive: browseInteractive,
  open_cdp: openCdp,
};
