/** One question to an OpenAI-compatible endpoint. */
import * as z from 'zod';
import { parseUntrustedJson } from './untrusted-json.js';

export interface Endpoint {
  /** Up to and with the version, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

export interface Question {
  readonly system: string;
  readonly user: string;
  readonly signal: AbortSignal;
  /** More of the request, such as tools. */
  readonly more?: object | undefined;
}

const largestAnswer = 1_000_000;

const completionSchema = z.object({
  choices: z.array(
    z.object({
      message: z.object({
        content: z.string().nullish(),
        tool_calls: z
          .array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }))
          .nullish(),
      }),
    }),
  ),
});

export type ChatMessage = z.output<typeof completionSchema>['choices'][number]['message'];

/** The messages of all choices. Throws for everything that is no answer. */
export async function askChat(
  { baseUrl, apiKey, model }: Endpoint,
  { system, user, signal, more = {} }: Question,
): Promise<ChatMessage[]> {
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
      ...more,
    }),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the endpoint answered with status ${response.status}`);
  }
  const { choices } = completionSchema.parse(parseUntrustedJson(Buffer.from(await boundedText(response))));
  return choices.map(({ message }) => message);
}

async function boundedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > largestAnswer) throw new Error('the answer is too long');
  }
  return text + decoder.decode();
}
