/** What an engine says while it builds or pulls: one JSON object a line. */
import { z } from 'zod';

const messageSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ code: z.number().optional() }).optional(),
  /** Other builders than ours put other things here. */
  aux: z.object({ ID: z.string().optional() }).optional().catch(undefined),
});

export type EngineMessage = z.infer<typeof messageSchema>;

export async function* readMessages(stream: NodeJS.ReadableStream): AsyncGenerator<EngineMessage> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = `${rest}${decoder.decode(chunk as unknown as Uint8Array, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield messageSchema.parse(JSON.parse(line));
  }
  if (rest.trim() !== '') yield messageSchema.parse(JSON.parse(rest));
}
