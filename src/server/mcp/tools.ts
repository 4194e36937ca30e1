/** What an MCP client may call: every action of the runtime, from the table that also checks them. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Runtime } from '../../index.js';
import { type ActionDefinition, type Progress, WorkcellError } from '../../protocol/index.js';
import { present, presentError } from './present.js';

/** Those that make no sense as a single call of a model. */
const hidden: ReadonlySet<string> = new Set(['watch']);

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

export function listTools({ actions }: Runtime, options: ToolOptions): Tool[] {
  return Object.values(actions)
    .filter((definition) => isOffered(definition, options))
    .map(({ name, summary, readOnly, input }) => ({
      name,
      description: summary,
      inputSchema: inputSchema(input),
      annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: readOnly },
    }));
}

/** A failure of the action is an answer, which the model reads; only a name that is not offered is a protocol error. */
export async function callTool(
  runtime: Runtime,
  name: string,
  args: Record<string, unknown>,
  options: ToolOptions,
  call: ToolCall,
): Promise<CallToolResult> {
  const definition = Object.hasOwn(runtime.actions, name) ? runtime.actions[name] : undefined;
  if (definition === undefined || !isOffered(definition, options))
    throw new WorkcellError('invalid-action', `There is no tool ${JSON.stringify(name)} here.`);
  try {
    const action = { ...withBudget(definition, args, options.budgetBytes), action: name };
    const observation = await runtime.execute(action as Parameters<Runtime['execute']>[0], call);
    return present(observation, options.budgetBytes);
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
    return presentError(error);
  }
}

function isOffered({ name, readOnly }: ActionDefinition, options: ToolOptions): boolean {
  return !hidden.has(name) && (readOnly || !options.readOnly);
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
