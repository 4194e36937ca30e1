/** Everything an agent may call of a runtime, in one form: the tools registered with it, and its actions. */
import { z } from 'zod';
import { JsonError, parseJson } from '../../base/json.js';
import { noNetworkHint } from '../../base/no-network.js';
import type { JsonSchema } from '../../cell/plugins/tools/json-schema.js';
import {
  type ActionDefinition,
  type ActionTable,
  type ExecuteContext,
  type Isolation,
  type Observation,
  WorkcellError,
} from '../../protocol/index.js';
import { didYouMean, nearest } from '../../protocol/nearest.js';
import type { FunctionTool } from './function-tool.js';
import { modelSchema } from './model-schema.js';
import { present, presentResult, type ToolAnswer } from './present.js';

/** Models wait this long for a command by default, well below the minute after which MCP clients time out. */
const patienceMs = 45_000;

/** What the tools need of a runtime. */
export interface ToolSource {
  readonly actions: ActionTable;
  readonly isolation: Isolation;
  getTools(): FunctionTool[];
  execute(action: never, context?: ExecuteContext): Promise<Observation>;
}

export interface AgentToolOptions {
  /**
   * Which actions to offer beside the registered tools: those named, none (`false`), or all but those for the owner
   * (`true`). Default: about ten that suffice for most work.
   */
  readonly actions?: boolean | readonly string[] | undefined;
  /** Offers only actions that change nothing in the cell. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of text that one answer carries. Default: 32 KiB. */
  readonly budgetBytes?: number | undefined;
  /**
   * After how long to hand back a command without its own limit, still running. The model then asks for the rest with
   * an empty command. Default: 45 seconds; `false` waits until it ends.
   */
  readonly handBackMs?: number | false | undefined;
  /** The shell session and the context of code cells for calls that name none. Default: `default`. */
  readonly session?: string | undefined;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Checks the arguments, does the work in the cell, and returns the text for the model. */
  call(args: Record<string, unknown>, context?: ExecuteContext): Promise<ToolAnswer>;
}

/** A registered tool replaces an action with the same name. */
export function agentTools(runtime: ToolSource, options: AgentToolOptions = {}): AgentTool[] {
  const { actions, readOnly = false, budgetBytes = 32_768 } = options;
  if (Array.isArray(actions)) checkNames(runtime.actions, actions);
  const registered = runtime.getTools();
  const taken = new Set(registered.map(({ name }) => name));
  const isWanted = ({ name, offered }: ActionDefinition) => {
    if (typeof actions === 'object') return actions.includes(name);
    return offered === 'always' ? actions !== false : offered === 'by-name' && actions === true;
  };
  const chosen = Object.values(runtime.actions).filter(
    (action) => canBeTool(action) && isWanted(action) && !taken.has(action.name),
  );
  return [
    ...registered.map((tool) => fromTool(tool, budgetBytes)),
    ...chosen.map((definition) => fromAction(runtime, definition, options)),
  ].filter((tool) => tool.readOnly || !readOnly);
}

/** The tool of that name, or `tool-not-found`. */
export function agentTool(runtime: ToolSource, name: string, options: AgentToolOptions = {}): AgentTool {
  const tools = agentTools(runtime, options);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const action = Object.hasOwn(runtime.actions, name) ? runtime.actions[name] : undefined;
  const advice = canBeTool(action)
    ? ' It is an action that is not offered; whoever made these tools can add it.'
    : didYouMean(
        nearest(
          name,
          tools.map((candidate) => candidate.name),
        ),
      );
  throw new WorkcellError('tool-not-found', `There is no tool ${JSON.stringify(name)} here.${advice}`, {
    details: { tool: name },
  });
}

/**
 * The same, with a failure of the call as an answer: the model reads the problem and tries again. A cancelled call is
 * nothing for the model.
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
    parameters: modelSchema(parameters),
    readOnly,
    idempotent,
    async call(args, { signal } = {}) {
      return presentResult(await tool.execute(args, signal === undefined ? {} : { signal }), budgetBytes);
    },
  };
}

function fromAction(runtime: ToolSource, definition: ActionDefinition, options: AgentToolOptions): AgentTool {
  const { name, summary, readOnly, input } = definition;
  const { budgetBytes = 32_768 } = options;
  return {
    name,
    description: summary,
    parameters: modelSchema(parametersOf(input)),
    readOnly,
    idempotent: readOnly,
    async call(args, context = {}) {
      const action = { ...withDefaults(definition, args, { ...options, budgetBytes }), action: name };
      const observation = await runtime.execute(action as never, context);
      return present(withHint(observation, runtime.isolation), budgetBytes);
    },
  };
}

/**
 * A null parameter takes its default. An action that can limit its own output keeps the rest for later; text that we
 * cut here would be lost.
 */
function withDefaults(
  { input: { shape } }: ActionDefinition,
  given: Record<string, unknown>,
  { budgetBytes = 32_768, handBackMs = patienceMs, session }: AgentToolOptions,
): Record<string, unknown> {
  const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  if ('maxOutputBytes' in shape) {
    // The line that tells how a command ended needs room, too.
    const most = Math.max(256, budgetBytes - 1024);
    args.maxOutputBytes =
      typeof args.maxOutputBytes === 'number' ? Math.min(args.maxOutputBytes, most) : most;
  }
  if (handBackMs !== false && 'handBackMs' in shape && !setsLimit(args)) args.handBackMs = handBackMs;
  for (const key of ['session', 'context']) if (session !== undefined && key in shape) args[key] ??= session;
  return args;
}

/** A model cannot know what its cell lacks. */
function withHint(observation: Observation, isolation: Isolation): Observation {
  if (observation.observation !== 'run' || observation.exitCode === 0) return observation;
  const { output, notice } = observation;
  const hint = noNetworkHint(isolation, output);
  if (hint === undefined) return observation;
  return { ...observation, notice: notice === undefined ? hint : `${notice} ${hint}` };
}

/** Whether a call of `run` says itself how long to wait. An empty command only looks, and answers at once. */
function setsLimit({
  command,
  input,
  timeoutMs,
  noChangeTimeoutMs,
  handBackMs,
}: Record<string, unknown>): boolean {
  const onlyLooks = input !== true && typeof command === 'string' && command.trim() === '';
  return onlyLooks || [timeoutMs, noChangeTimeoutMs, handBackMs].some((limit) => limit !== undefined);
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

function canBeTool(action: ActionDefinition | undefined): boolean {
  return action !== undefined && action.offered !== 'never';
}

function checkNames(table: ActionTable, names: readonly string[]): void {
  const known = Object.keys(table).filter((name) => canBeTool(table[name]));
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new WorkcellError(
    'tool-not-found',
    `No action that can be a tool has the name ${JSON.stringify(unknown[0])}.${didYouMean(nearest(unknown[0] ?? '', known))} There are ${known.join(', ')}.`,
    { details: { names: unknown } },
  );
}

/** As deep as an action may be. */
const deepestArguments = 512;

/** Arguments in the form that models send: an object, or its JSON text; an empty text means none. */
export function parseArguments(
  name: string,
  given: string | Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (typeof given !== 'string') return { ...given };
  let value: unknown;
  let reason = '';
  try {
    value = parseJson(given.trim() === '' ? '{}' : given, { depth: deepestArguments });
  } catch (error) {
    if (error instanceof JsonError && error.problem === 'duplicate-key') reason = `: ${error.message}`;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new WorkcellError(
    'invalid-arguments',
    `The arguments of tool "${name}" are not a JSON object${reason}.`,
    {
      details: { tool: name },
    },
  );
}
