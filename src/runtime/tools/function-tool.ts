/** A typed function that an agent may call: by itself, or registered with a runtime, inside its cell. */

import { boundSchema, describe, type JsonSchema } from '../../cell/plugins/tools/json-schema.js';
import {
  type ActionInput,
  type CoreActionName,
  type ExecuteContext,
  type Observation,
  WorkcellError,
} from '../../protocol/index.js';
import { carryOut } from './inside/carry-out.js';
import { toolMarker } from './inside/collect-tools.js';
import { checker, type InputOf, type OutputOf, type ToolSchema, toJsonSchema } from './tool-schema.js';

/** What a tool may use of the runtime that it works for: the actions of every executor, in the same cell. */
export interface ToolRuntime {
  /** As seen from inside the cell. */
  readonly workspace: string;
  execute<Name extends CoreActionName>(
    action: ActionInput<Name> & { action: Name },
    context?: Pick<ExecuteContext, 'signal'>,
  ): Promise<Observation<Name>>;
}

/** The second argument of a tool's function. */
export interface ToolContext {
  /** Aborts when somebody cancels the call or it takes too long. */
  readonly signal: AbortSignal;
  /** A line for the observer of the call. */
  log(message: string): void;
  /** Reports how far the call is; any JSON. */
  progress(value: unknown): void;
  /** Absent when the tool runs without a runtime. */
  readonly runtime?: ToolRuntime | undefined;
}

/** The definition that `tool` takes. */
export interface ToolDefinition<Schema extends ToolSchema = ToolSchema, Result = unknown> {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** An object: the parameters by name. Default: none. */
  readonly parameters?: Schema | undefined;
  /** The schema of the result, if you want it checked. */
  readonly returns?: ToolSchema | undefined;
  /** Can be async, or return an async iterable whose values are progress. */
  execute(input: OutputOf<Schema>, context: ToolContext): Result;
  /** How long a call may take. Default in a runtime: two minutes; none without one. */
  readonly timeoutMs?: number | undefined;
  /** True when calling it again with the same arguments changes nothing more. */
  readonly idempotent?: boolean | undefined;
  /** True when it changes nothing. */
  readonly readOnly?: boolean | undefined;
}

/** The result of a call: for an async iterable its return value, else its last value. */
export type ResultOf<Result> =
  Result extends AsyncGenerator<infer Value, infer Last>
    ? undefined extends Last
      ? Value
      : Last
    : Result extends AsyncIterable<infer Value>
      ? Value
      : Awaited<Result>;

/** A tool that an agent may call. */
export interface FunctionTool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the parameters, for models. */
  readonly parameters: JsonSchema;
  /** JSON Schema of the result, where there is one. */
  readonly returns?: JsonSchema | undefined;
  readonly timeoutMs?: number | undefined;
  readonly idempotent: boolean;
  readonly readOnly: boolean;
  /** The definition that you passed to `tool`. */
  readonly definition: ToolDefinition;
  /** Checks the arguments, calls the function, checks the result. */
  execute(input: Input, context?: Partial<ToolContext>): Promise<Output>;
}

/** Declares a tool. Throws `invalid-tool` for an unusable name or schema. */
export function tool<const Schema extends ToolSchema = JsonSchema, Result = unknown>(
  definition: ToolDefinition<Schema, Result>,
): FunctionTool<InputOf<Schema>, ResultOf<Result>> {
  const { name, description, returns, timeoutMs, idempotent = false, readOnly = false } = definition;
  checkName(name);
  const schema = definition.parameters ?? noParameters;
  const parameters = toJsonSchema(schema, `The parameters of tool "${name}"`);
  checkParameters(name, parameters);
  const result = returns === undefined ? undefined : toJsonSchema(returns, `The result of tool "${name}"`);
  const checkInput = argumentCheck(name, schema, parameters);
  const checkResult =
    returns === undefined || result === undefined ? undefined : resultCheck(name, returns, result);
  return {
    [toolMarker]: true,
    name,
    description,
    parameters,
    ...(result === undefined ? {} : { returns: result }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    idempotent: idempotent || readOnly,
    readOnly,
    definition: definition as unknown as ToolDefinition,
    async execute(input: InputOf<Schema>, context: Partial<ToolContext> = {}) {
      const value = await checkInput(input);
      const answer = await call(definition as unknown as ToolDefinition, value, context);
      return (checkResult === undefined ? answer : await checkResult(answer)) as ResultOf<Result>;
    },
  } as FunctionTool<InputOf<Schema>, ResultOf<Result>>;
}

/** Returns the arguments for the function, or throws `invalid-arguments` with every problem and its path. */
export function argumentCheck(
  name: string,
  schema: ToolSchema,
  parameters: JsonSchema,
): (input: unknown) => Promise<unknown> {
  const check = checker(schema, parameters, { what: `The parameters of tool "${name}"`, strict: true });
  return async (input) => {
    const checked = await check(input ?? {});
    if (checked.issues === undefined) return checked.value;
    throw new WorkcellError(
      'invalid-arguments',
      `The arguments of tool "${name}" are not valid: ${describe(checked.issues)}.`,
      { details: { tool: name, issues: checked.issues } },
    );
  };
}

/** Returns the result as its schema transforms it, or throws `invalid-result`. */
export function resultCheck(
  name: string,
  schema: ToolSchema,
  json: JsonSchema,
): (result: unknown) => Promise<unknown> {
  const check = checker(schema, json, { what: `The result of tool "${name}"`, strict: false });
  return async (result) => {
    const checked = await check(result);
    if (checked.issues === undefined) return checked.value;
    throw new WorkcellError(
      'invalid-result',
      `The result of tool "${name}" is not valid: ${describe(checked.issues)}.`,
      { details: { tool: name, issues: checked.issues } },
    );
  };
}

const noParameters: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** Calls the function in this process, with the same outcomes as in a cell. */
async function call(
  definition: ToolDefinition,
  input: unknown,
  { signal, log = () => {}, progress = () => {}, runtime }: Partial<ToolContext>,
): Promise<unknown> {
  const { name, timeoutMs } = definition;
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const ends = AbortSignal.any([signal, timeout].filter((given) => given !== undefined));
  const ended = () =>
    timeout?.aborted === true
      ? new WorkcellError('timed-out', `Tool "${name}" took longer than ${timeoutMs} ms.`, {
          details: { tool: name, timeoutMs },
        })
      : new WorkcellError('cancelled', `The call of tool "${name}" was cancelled.`, {
          details: { tool: name },
        });
  if (ends.aborted) throw ended();
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(ended());
    ends.addEventListener('abort', stop, { once: true });
  });
  try {
    const context: ToolContext = { signal: ends, log, progress, runtime };
    const outcome = await Promise.race([carryOut(definition, input, context), stopped]);
    if (outcome.error === undefined) return JSON.parse(outcome.json);
    if (ends.aborted) throw ended();
    const { code, message, details } = outcome.error;
    throw new WorkcellError(code, message, { details: { ...details }, cause: outcome.cause });
  } finally {
    ends.removeEventListener('abort', stop);
  }
}

function checkName(name: unknown): void {
  if (typeof name === 'string' && /^[\w-]{1,64}$/.test(name)) return;
  throw new WorkcellError(
    'invalid-tool',
    `${JSON.stringify(name)} cannot be the name of a tool: it takes 1 to 64 letters, digits, "_" and "-".`,
    { details: { tool: name } },
  );
}

function checkParameters(name: string, parameters: JsonSchema): void {
  boundSchema(parameters, `The schema of tool "${name}"`);
  if (parameters.type === 'object') return;
  throw new WorkcellError(
    'invalid-tool',
    `The parameters of tool "${name}" are of type ${JSON.stringify(parameters.type) ?? 'none'}; they must be an object with the parameters by name.`,
    { details: { tool: name } },
  );
}
