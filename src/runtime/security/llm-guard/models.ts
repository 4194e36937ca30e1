/** The two ways to a model: an OpenAI-compatible endpoint, or a language model of the AI SDK. */
import { z } from 'zod';
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

export interface Endpoint {
  /** Up to and with the version, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

const largestAnswer = 1_000_000;

export function askEndpoint({ baseUrl, apiKey, model }: Endpoint): AskModel {
  return async ({ system, user, signal }) => {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      signal,
      // A redirect would carry the key to another place.
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        temperature: 0,
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        tools: [{ type: 'function', function: scoreTool }],
        tool_choice: { type: 'function', function: { name: scoreToolName } },
      }),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the endpoint answered with status ${response.status}`);
    }
    const text = await response.text();
    if (text.length > largestAnswer) throw new Error('the answer is too long');
    const { choices } = completionSchema.parse(JSON.parse(text));
    const calls = choices.flatMap(({ message }) => message.tool_calls ?? []);
    return calls
      .filter((call) => call.function.name === scoreToolName)
      .map((call) => parseJson(call.function.arguments));
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
      .map(({ data }) => (typeof data.input === 'string' ? parseJson(data.input) : data.input));
  };
}

const completionSchema = z.object({
  choices: z.array(
    z.object({
      message: z.object({
        tool_calls: z
          .array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }))
          .nullish(),
      }),
    }),
  ),
});

const toolCallSchema = z.object({
  type: z.literal('tool-call'),
  toolName: z.literal(scoreToolName),
  input: z.unknown(),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
