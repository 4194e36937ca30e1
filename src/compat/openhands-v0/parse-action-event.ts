/** Checks actions from the wire: refuses unknown keys in `args`, accepts old spellings. */
import { z } from 'zod';
import { describeIssues } from '../../protocol/index.js';
import type { Text } from '../messages.js';
import { HttpError } from './http-error.js';
import { words } from './openhands-words.js';

const confirmation = z.enum(['confirmed', 'rejected', 'awaiting_confirmation']);

const common = {
  /** -1 unknown, 0 low, 1 medium, 2 high; whatever else counts as not given. */
  security_risk: z.int().min(-1).max(2).optional().catch(undefined),
  confirmation_state: confirmation.optional(),
  /** The older name of the same. */
  is_confirmed: confirmation.optional(),
};

/** Accepted, and of no interest to this server. */
const ignored = {
  thought: z.unknown().optional(),
  keep_prompt: z.unknown().optional(),
  task_completed: z.unknown().optional(),
  images_urls: z.unknown().optional(),
  timestamp: z.unknown().optional(),
  translated_ipython_code: z.unknown().optional(),
};

const run = args({
  command: z.string(),
  is_input: z.boolean().default(false),
  blocking: z.boolean().default(false),
  is_static: z.boolean().default(false),
  cwd: z.string().nullable().default(null),
  hidden: z.boolean().default(false),
});

const read = args({
  path: z.string(),
  start: z.int().default(0),
  end: z.int().default(-1),
  impl_source: z.enum(['default', 'oh_aci']).default('default'),
  /** The editor itself reports problems with it. */
  view_range: z.unknown().optional(),
});

const write = args({
  path: z.string(),
  content: z.string(),
  start: z.int().default(0),
  end: z.int().default(-1),
});

const edit = args({
  path: z.string(),
  command: z.string().default(''),
  file_text: z.string().nullable().default(null),
  old_str: z.string().nullable().default(null),
  new_str: z.string().nullable().default(null),
  /** The editor itself reports problems with it. */
  insert_line: z.unknown().optional(),
  view_range: z.unknown().optional(),
  /** These three are for drafts, which a model applies. */
  content: z.string().nullish(),
  start: z.int().nullish(),
  end: z.int().nullish(),
  impl_source: z.enum(['oh_aci', 'llm_based_edit']).default('oh_aci'),
});

const runIpython = args({
  code: z.string(),
  include_extra: z.boolean().default(true),
  kernel_init_code: z.unknown().optional(),
});

const browse = args({ url: z.string(), return_axtree: z.boolean().default(false) });

const browseInteractive = args({
  browser_actions: z.string(),
  browsergym_send_msg_to_user: z.unknown().optional(),
  return_axtree: z.boolean().default(false),
});

const argumentsByName = {
  run,
  read,
  write,
  edit,
  run_ipython: runIpython,
  browse,
  browse_interactive: browseInteractive,
};

type Name = keyof typeof argumentsByName;

export type Arguments<N extends Name> = z.output<(typeof argumentsByName)[N]>;

export type ActionEvent = {
  [N in Name]: {
    readonly action: N;
    readonly args: Arguments<N>;
    /** Hard timeout in seconds. */
    readonly timeout: number | undefined;
  };
}[Name];

const envelope = z.object({
  action: z.string(),
  args: z.record(z.string(), z.unknown()).default({}),
  timeout: z.number().nullish(),
});

/** Throws the server's answer to an action that it does not understand. */
export function parseActionEvent(value: unknown): ActionEvent {
  const event = check(envelope, value, (problems) => words('action.unreadable', { problems }));
  if (!Object.hasOwn(argumentsByName, event.action)) {
    const known = Object.keys(argumentsByName).join(', ');
    throw new HttpError(400, words('action.unknown', { action: event.action, known }));
  }
  const action = event.action as Name;
  const parsed = check(argumentsByName[action], event.args, (problems) =>
    words('action.misfit', { action, problems }),
  );
  return { action, args: parsed, timeout: event.timeout ?? undefined } as ActionEvent;
}

function args<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...ignored, ...common, ...shape });
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  refusal: (problems: string) => Text,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new HttpError(400, refusal(describeIssues(result.error)));
}
