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

/** A call as the model asks for it: OpenAI gives the arguments as JSON text, Anthropic as an object. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/** The answer to a model's call, for the model and for your program. */
export interface ToolCallResult {
  /** What the model shall read. */
  readonly text: string;
  readonly isError: boolean;
  /** What came along that is no text, in base64. */
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
 * Carries out a call. Whatever the model did wrong, a name that is not offered included, is an answer for the model;
 * so give the options that the schemas were made with.
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
