/** What you can do in a browser, one step at a time. The fields have the order of the arguments in the language. */
import * as z from 'zod';
import type { FieldKind } from '../../../protocol/index.js';

/** A file name or a key is never long; text that you type into a page can be. */
const short = z.string().max(4096);
const long = z.string().max(1_048_576);
const bid = z
  .string()
  .regex(/^(?:[a-z][A-Z]*)*\d{1,12}$/, 'must be the id of an element, such as "12" or "a12"');
const button = z.enum(['left', 'middle', 'right']).default('left');
const modifiers = z
  .array(z.enum(['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift']))
  .max(5)
  .default([]);
const coordinate = z.number().min(-100_000).max(100_000);
const point = { x: coordinate, y: coordinate };

const shapes = {
  goto: { url: short },
  go_back: {},
  go_forward: {},
  new_tab: {},
  tab_close: {},
  tab_focus: { index: z.int().min(0).max(1000) },
  click: { bid, button, modifiers },
  dblclick: { bid, button, modifiers },
  hover: { bid },
  fill: { bid, value: long },
  select_option: { bid, options: z.union([short, z.array(short).max(1000)]) },
  press: { bid, key_comb: short },
  focus: { bid },
  clear: { bid },
  drag_and_drop: { from_bid: bid, to_bid: bid },
  upload_file: { bid, file: z.union([short, z.array(short).min(1).max(100)]) },
  scroll: { delta_x: coordinate, delta_y: coordinate },
  mouse_move: point,
  mouse_click: { ...point, button },
  mouse_dblclick: { ...point, button },
  mouse_drag_and_drop: { from_x: coordinate, from_y: coordinate, to_x: coordinate, to_y: coordinate },
  keyboard_press: { key: short },
  keyboard_type: { text: long },
  /** The answer to the next confirmation or question of a page; without it the browser dismisses them. */
  answer_dialog: { accept: z.boolean().default(true), text: short.default('') },
  noop: { wait_ms: z.number().min(0).max(60_000).default(1000) },
  send_msg_to_user: { text: long },
  report_infeasible: { reason: long },
} as const satisfies Record<string, z.ZodRawShape>;

type FieldOf<Shape> = { [Name in keyof Shape]: keyof Shape[Name] }[keyof Shape];

/** The kinds of the fields of all steps. Text that you type into a page stays in the page. */
export const stepKinds = {
  do: 'plain',
  url: 'address',
  file: 'path-read',
  bid: 'plain',
  button: 'plain',
  modifiers: 'plain',
  value: 'plain',
  options: 'plain',
  key_comb: 'plain',
  from_bid: 'plain',
  to_bid: 'plain',
  key: 'plain',
  text: 'plain',
  reason: 'plain',
} as const satisfies Partial<Record<FieldOf<typeof shapes> | 'do', FieldKind>>;

type Shapes = typeof shapes;
export type StepName = keyof Shapes;
export type Step<Name extends StepName = StepName> = {
  [N in Name]: { do: N } & z.output<z.ZodObject<Shapes[N]>>;
}[Name];
/** A step as a caller writes it: you can leave defaults out. */
export type StepInput = { [N in StepName]: { do: N } & z.input<z.ZodObject<Shapes[N]>> }[StepName];

const schemas = Object.entries(shapes).map(([name, shape]) =>
  z.strictObject({ do: z.literal(name), ...shape }),
) as unknown as [z.ZodObject, ...z.ZodObject[]];

export const stepSchema = z.discriminatedUnion('do', schemas) as unknown as z.ZodType<Step, StepInput>;

/** The most that one action takes. */
export const mostSteps = 100;

export const stepNames = Object.keys(shapes) as StepName[];

/** The names of a step's arguments, in order. */
export function parametersOf(name: StepName): string[] {
  return Object.keys(shapes[name]);
}
