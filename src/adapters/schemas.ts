/** For agents that talk to a model's API themselves: the schemas to send, and a way to carry out what comes back. */
import type { Runtime } from '../index.js';
import {
  type AgentToolOptions,
  agentTool,
  agentTools,
  answer,
  parseArguments,
} from '../runtime/tools/agent-tools.js';
import { type OpenaiTool, openaiTool } from '../runtime/tools/openai.js';

/** A tool in the form that Anthropic's API takes. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly type: 'object'; readonly [keyword: string]: unknown };
}

/** A call as the model requests it: OpenAI sends the arguments as JSON text, Anthropic as an object. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/** The answer to a model's call, for the model and for your program. */
export interface ToolCallResult {
  /** The text for the model to read. */
  readonly text: string;
  readonly isError: boolean;
  /** Pictures of the answer, in base64. */
  readonly pictures: readonly { readonly mediaType: string; readonly data: string }[];
  /** The rest of the observation, for programs. */
  readonly facts?: Record<string, unknown> | undefined;
}

/** `tools` of OpenAI's chat completions. */
export function openaiTools(
  runtime: Runtime,
  { strict = false, ...options }: AgentToolOptions & { readonly strict?: boolean } = {},
): OpenaiTool[] {
  return agentTools(runtime, options).map((tool) => openaiTool(tool, { strict }));
}

/** `tools` of Anthropic's messages. */
export function anthropicTools(runtime: Runtime, options: AgentToolOptions = {}): AnthropicTool[] {
  return agentTools(runtime, options).map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: 'object' },
  }));
}

/**
 * Carries out a call. Whatever the model did wrong, a name that we do not offer included, becomes an answer for the
 * model; so pass the same options as for the schemas.
 */
export function callTool(
  runtime: Runtime,
  { name, arguments: given }: ToolCall,
  { signal, ...options }: AgentToolOptions & { readonly signal?: AbortSignal } = {},
): Promise<ToolCallResult> {
  return answer(
    async () => agentTool(runtime, name, options).call(parseArguments(name, given), { signal }),
    signal,
  );
}

/** A block of Anthropic's `tool_result`, with the pictures in it. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  is_error: boolean;
  content: (
    | { type: 'text'; text: string }
    | { type: 'image'; source: { type: 'base64'; media_type: PictureType; data: string } }
  )[];
}

type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The answer to a call for Anthropic's messages, in a message of the user. `id` is the id of the call. */
export function anthropicToolResult(
  id: string,
  { text, pictures, isError }: ToolCallResult,
): AnthropicToolResult {
  return {
    type: 'tool_result',
    tool_use_id: id,
    is_error: isError,
    content: [
      // An empty text is an error there.
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...pictures.map(({ mediaType, data }) => ({
        type: 'image' as const,
        source: { type: 'base64' as const, media_type: mediaType as PictureType, data },
      })),
    ],
  };
}

/** A message of OpenAI's chat completions. */
export type OpenaiToolMessage =
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: { type: 'image_url'; image_url: { url: string } }[] };

/**
 * The answer to a call as OpenAI's chat completions take it. A message of a tool carries text only there, so the pictures
 * follow in one of the user: send it behind the answers to all calls of the same turn.
 */
export function openaiToolMessages(id: string, { text, pictures }: ToolCallResult): OpenaiToolMessage[] {
  const answered: OpenaiToolMessage = { role: 'tool', tool_call_id: id, content: text };
  if (pictures.length === 0) return [answered];
  const content = pictures.map(({ mediaType, data }) => ({
    type: 'image_url' as const,
    image_url: { url: `data:${mediaType};base64,${data}` },
  }));
  return [answered, { role: 'user', content }];
}
