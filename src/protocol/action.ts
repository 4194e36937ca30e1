import * as z from 'zod';
import type { FieldKind, FieldKinds } from './kinds.js';

/**
 * When a model gets an action as a tool. `always`: unless you choose others. `by-name`: when you name it, or ask for all;
 * few tools make a better agent than many. `for-owner`: only when you name it, because it opens a way past the checks
 * that actions go through. `never`: it makes no sense as a single call.
 */
export type Offered = 'always' | 'by-name' | 'for-owner' | 'never';

/** Describes one action: what the agent sends, what it gets back, and what may arrive in between. */
export interface ActionDefinition<
  Name extends string = string,
  Input extends z.ZodRawShape = z.ZodRawShape,
  Output extends z.ZodRawShape = z.ZodRawShape,
> {
  readonly name: Name;
  /** One sentence for the reference page, the OpenAPI document and the command line. */
  readonly summary: string;
  /** True when the action changes nothing in the cell, so that it is safe to repeat. */
  readonly readOnly: boolean;
  /** When a model gets it as a tool. */
  readonly offered: Offered;
  /** True when a program runs because of it. */
  readonly startsProcess: boolean;
  /** True when it opens something that does more than the action tells: a terminal, an editor, a connection. */
  readonly opensSession: boolean;
  /** What each field is. A field without a kind is unknown, and asks. */
  readonly kinds: FieldKinds;
  readonly input: z.ZodObject<Input & { action: z.ZodLiteral<Name> }, z.core.$strict>;
  readonly output: z.ZodObject<Output & { observation: z.ZodLiteral<Name> }>;
}

/** Actions by name: what an executor can do. */
export type ActionTable = Readonly<Record<string, ActionDefinition>>;

/** The types of actions that plugins add. A plugin declares its own here by merging this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins fill it
export interface PluginActions {}

/** A field that can carry text needs a kind; numbers and booleans carry nothing. */
type NeedsKind<Value> = unknown extends Value
  ? true
  : [Exclude<Value, number | boolean | null | undefined>] extends [never]
    ? false
    : true;

/** A kind for each field of an action; a missing one does not compile. */
export type KindsOf<Input extends z.ZodRawShape> = {
  readonly [Field in keyof Input as NeedsKind<z.output<Input[Field]>> extends true
    ? Field
    : never]: FieldKind<keyof Input & string>;
};

/**
 * Declares an action. The input is strict, so that callers hear of unknown keys; the output is not, because an
 * executor may be newer than its caller. Each getter builds its schema on first use: building all of them takes
 * longer than the rest of a start.
 */
export function defineAction<
  const Name extends string,
  Input extends z.ZodRawShape,
  Output extends z.ZodRawShape,
>(
  name: Name,
  definition: {
    summary: string;
    readOnly?: boolean;
    offered?: Offered;
    startsProcess?: boolean;
    opensSession?: boolean;
    input: Input;
    kinds: KindsOf<NoInfer<Input>>;
    output: Output;
  },
): ActionDefinition<Name, Input, Output> {
  let input: unknown;
  let output: unknown;
  return {
    name,
    summary: definition.summary,
    readOnly: definition.readOnly ?? false,
    offered: definition.offered ?? 'always',
    startsProcess: definition.startsProcess ?? false,
    opensSession: definition.opensSession ?? false,
    // A plugin in plain JavaScript may have left them out.
    kinds: definition.kinds ?? {},
    get input() {
      input ??= z.strictObject({ action: z.literal(name), ...definition.input });
      return input;
    },
    get output() {
      output ??= z.object({ observation: z.literal(name), ...definition.output });
      return output;
    },
  } as ActionDefinition<Name, Input, Output>;
}
