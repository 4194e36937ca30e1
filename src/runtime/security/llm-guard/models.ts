/** The two ways to a model: an OpenAI-compatible endpoint, or a language model of the AI SDK. */
import { z } from 'zod';
import { askChat, type Endpoint } from '../../../base/chat-completion.js';
import { readUntrustedJson } from '../../../base/untrusted-json.js';
import { scoreTool, scoreToolName } from './guard-prompt.js';

export interface ScoreCall {
  readonly score: number;
  readonly reason: string;
}

/** Asks the model once. Returns the arguments of each call of the scoring tool, unchecked. */
export type AskModel = (question: {
  system: string;
  user: string;
  signal: AbortSignal;
}) => Promise<unknown[]>;

/** What we use of a language model of the AI SDK, so that we do not need the package itself. */
export interface LanguageModel {
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<{ readonly content: readonly unknown[] }>;
}

export function askEndpoint(endpoint: Endpoint): AskModel {
  return async (question) => {
    const more = {
      tools: [{ type: 'function', function: scoreTool }],
      tool_choice: { type: 'function', function: { name: scoreToolName } },
    };
    const messages = await askChat(endpoint, { ...question, more });
    return messages
      .flatMap((message) => message.tool_calls ?? [])
      .filter((call) => call.function.name === scoreToolName)
      .map((call) => readUntrustedJson(call.function.arguments));
  };
}

export function askLanguageModel(model: LanguageModel): AskModel {
  return async ({ system, user, signal }) => {
    const options = {
      prompt: [
        { role: 'system', content: system },
        { role: 'user', content: [{ type: 'text', text: user }] },
      ],
      tools: [
        {
          type: 'function',
          name: scoreToolName,
          description: scoreTool.description,
          inputSchema: scoreTool.parameters,
        },
      ],
      toolChoice: { type: 'tool', toolName: scoreToolName },
      temperature: 0,
      abortSignal: signal,
    };
    const { content } = await model.doGenerate(options as never);
    return content
      .map((part) => toolCallSchema.safeParse(part))
      .filter((parsed) => parsed.success)
      .map(({ data }) => (typeof data.input === 'string' ? readUntrustedJson(data.input) : data.input));
  };
}

const toolCallSchema = z.object({
  type: z.literal('tool-call'),
  toolName: z.literal(scoreToolName),
  input: z.unknown(),
});
