/** Everything an agent may call of a runtime, in one form: the tools registered with it, and its actions. */
import { z } from 'zod';
import type { JsonSchema } from '../../cell/plugins/tools/json-schema.js';
import {
  type ActionDefinition,
  type ActionTable,
  type ExecuteContext,
  type Observation,
  WorkcellError,
} from '../../protocol/index.js';
import type { FunctionTool } from './function-tool.js';
import { present, presentResult, type ToolAnswer } from './present.js';

/** Actions that make no sense as a single call of a model, and those behind registered tools. */
const hidden: ReadonlySet<string> = new Set(['watch', 'install_tools', 'call_tool', 'reset_tools']);

/** What is needed of a runtime. */
export interface ToolSource {
  readonly actions: ActionTable;
  getTools(): FunctionTool[];
  execute(action: never, context?: ExecuteContext): Promise<Observation>;
}

export interface AgentToolOptions {
  /** Which actions are offered beside the registered tools: all but those for the owner, none, or those named. Default: all. */
  readonly actions?: boolean | readonly string[] | undefined;
  /** Offers only what changes nothing in the cell. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of text that one answer carries. Default: 32 KiB. */
  readonly budgetBytes?: number | undefined;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Checks the arguments, does it in the cell, and gives what the model reads. */
  call(args: Record<string, unknown>, context?: ExecuteContext): Promise<ToolAnswer>;
}

/** A registered tool takes the place of an action with the same name. */
export function agentTools(runtime: ToolSource, options: AgentToolOptions = {}): AgentTool[] {
  const { actions = true, readOnly = false, budgetBytes = 32_768 } = options;
  if (Array.isArray(actions)) checkNames(runtime.actions, actions);
  const registered = runtime.getTools();
  const taken = new Set(registered.map(({ name }) => name));
  const isWanted = ({ name, forOwner }: ActionDefinition) =>
    typeof actions === 'boolean' ? actions && !forOwner : actions.includes(name);
  const offered = Object.values(runtime.actions).filter(
    (action) => isWanted(action) && !hidden.has(action.name) && !taken.has(action.name),
  );
  return [
    ...registered.map((tool) => fromTool(tool, budgetBytes)),
    ...offered.map((definition) => fromAction(runtime, definition, budgetBytes)),
  ].filter((tool) => tool.readOnly || !readOnly);
}

/** The tool of that name, or `tool-not-found`. */
export function agentTool(runtime: ToolSource, name: string, options: AgentToolOptions = {}): AgentTool {
  const tools = agentTools(runtime, options);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  throw new WorkcellError('tool-not-found', `There is no tool ${JSON.stringify(name)} here.`, {
    details: { tool: name },
  });
}

/**
 * The same, with a failure of the call as an answer: the model reads what was wrong and tries again. That the call was
 * cancelled is nothing for the model.
 */
export async function answer(
  work: () => Promise<ToolAnswer>,
  signal?: AbortSignal,
): Promise<ToolAnswer & { isError: boolean }> {
  try {
    return { ...(await work()), isError: false };
  } catch (error) {
    if (!WorkcellError.isInstance(error) || signal?.aborted === true) throw error;
    return { text: `${error.code}: ${error.message}`, pictures: [], isError: true };
  }
}

function fromTool(tool: FunctionTool, budgetBytes: number): AgentTool {
  const { name, description, parameters, readOnly, idempotent } = tool;
  return {
    name,
    description,
    parameters,
    readOnly,
    idempotent,
    async call(args, { signal } = {}) {
      return presentResult(await tool.execute(args, signal === undefined ? {} : { signal }), budgetBytes);
    },
  };
}

function fromAction(runtime: ToolSource, definition: ActionDefinition, budgetBytes: number): AgentTool {
  const { name, summary, readOnly, input } = definition;
  return {
    name,
    description: summary,
    parameters: parametersOf(input),
    readOnly,
    idempotent: readOnly,
    async call(args, context = {}) {
      const action = { ...withBudget(definition, args, budgetBytes), action: name };
      return present(await runtime.execute(action as never, context), budgetBytes);
    },
  };
}

/**
 * A parameter that is null takes its default. Where an action can limit its own output, it keeps the rest for later;
 * what is cut here would be gone.
 */
function withBudget(
  { input }: ActionDefinition,
  given: Record<string, unknown>,
  budgetBytes: number,
): Record<string, unknown> {
  const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  if (!('maxOutputBytes' in input.shape)) return args;
  const asked = typeof args.maxOutputBytes === 'number' ? args.maxOutputBytes : budgetBytes;
  return { ...args, maxOutputBytes: Math.min(asked, budgetBytes) };
}

function parametersOf(input: ActionDefinition['input']): JsonSchema {
  const {
    $schema: _dialect,
    properties,
    required,
    ...schema
  } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
  }) as z.core.JSONSchema.JSONSchema & { properties: Record<string, object>; required?: string[] };
  const { action: _action, ...fields } = properties;
  const needed = (required ?? []).filter((field) => field !== 'action');
  return { ...schema, type: 'object', properties: fields, ...(needed.length > 0 && { required: needed }) };
}

function checkNames(table: ActionTable, names: readonly string[]): void {
  const known = Object.keys(table).filter((name) => !hidden.has(name));
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new WorkcellError(
    'tool-not-found',
    `No action that can be a tool has the name ${JSON.stringify(unknown[0])}; there are ${known.join(', ')}.`,
    { details: { names: unknown } },
  );
}

/** Arguments as models give them: an object, or its JSON text; an empty text means none. */
export function parseArguments(
  name: string,
  given: string | Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (typeof given !== 'string') return { ...given };
  let value: unknown;
  try {
    value = JSON.parse(given.trim() === '' ? '{}' : given);
  } catch {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new WorkcellError('invalid-arguments', `The arguments of tool "${name}" are not a JSON object.`, {
    details: { tool: name },
  });
}
