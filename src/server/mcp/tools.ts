/** What an MCP client may call: the tools that are registered with the runtime, and its actions, from their own table. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { FunctionTool, Runtime } from '../../index.js';
import { type ActionDefinition, type Progress, WorkcellError } from '../../protocol/index.js';
import { present, presentError, presentResult } from './present.js';

/** Those that make no sense as a single call of a model, and those that registered tools stand for. */
const hidden: ReadonlySet<string> = new Set(['watch', 'install_tools', 'call_tool', 'reset_tools']);

export interface ToolOptions {
  /** Bytes of text that one answer carries. */
  readonly budgetBytes: number;
  /** Offers only what changes nothing in the cell. */
  readonly readOnly: boolean;
}

export interface ToolCall {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => Promise<void>) | undefined;
}

export function listTools(runtime: Runtime, options: ToolOptions): Tool[] {
  return [
    ...registered(runtime, options).map(describeTool),
    ...offered(runtime, options).map(describeAction),
  ];
}

/** A failure of the action is an answer, which the model reads; only a name that is not offered is a protocol error. */
export async function callTool(
  runtime: Runtime,
  name: string,
  args: Record<string, unknown>,
  options: ToolOptions,
  call: ToolCall,
): Promise<CallToolResult> {
  const tool = registered(runtime, options).find((candidate) => candidate.name === name);
  const definition = offered(runtime, options).find((candidate) => candidate.name === name);
  if (tool === undefined && definition === undefined)
    throw new WorkcellError('invalid-action', `There is no tool ${JSON.stringify(name)} here.`);
  try {
    if (tool !== undefined) {
      const result = await tool.execute(args, { signal: call.signal });
      return presentResult(result, options.budgetBytes);
    }
    const action = { ...withBudget(definition as ActionDefinition, args, options.budgetBytes), action: name };
    const observation = await runtime.execute(action as Parameters<Runtime['execute']>[0], call);
    return present(observation, options.budgetBytes);
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
    return presentError(error);
  }
}

function registered(runtime: Runtime, options: ToolOptions): FunctionTool[] {
  return runtime.getTools().filter(({ readOnly }) => readOnly || !options.readOnly);
}

/** A registered tool takes the place of an action with the same name. */
function offered(runtime: Runtime, options: ToolOptions): ActionDefinition[] {
  const taken = new Set(runtime.getTools().map(({ name }) => name));
  return Object.values(runtime.actions).filter(
    ({ name, readOnly }) => !hidden.has(name) && !taken.has(name) && (readOnly || !options.readOnly),
  );
}

function describeTool({ name, description, parameters, readOnly, idempotent }: FunctionTool): Tool {
  return {
    name,
    description,
    inputSchema: { ...parameters, type: 'object' } as Tool['inputSchema'],
    annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: idempotent },
  };
}

function describeAction({ name, summary, readOnly, input }: ActionDefinition): Tool {
  return {
    name,
    description: summary,
    inputSchema: inputSchema(input),
    annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: readOnly },
  };
}

/** Where an action can limit its own output, it keeps the rest for later; what is cut here would be gone. */
function withBudget(
  { input }: ActionDefinition,
  args: Record<string, unknown>,
  budgetBytes: number,
): Record<string, unknown> {
  if (!('maxOutputBytes' in input.shape)) return args;
  const asked = typeof args.maxOutputBytes === 'number' ? args.maxOutputBytes : budgetBytes;
  return { ...args, maxOutputBytes: Math.min(asked, budgetBytes) };
}

function inputSchema(input: ActionDefinition['input']): Tool['inputSchema'] {
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
