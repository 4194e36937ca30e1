/** An OpenAI-compatible endpoint of this machine, whose answers the test writes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Asked {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly messages: readonly { role: string; content: string }[];
}

export interface DraftEndpoint {
  readonly baseUrl: string;
  /** What it was asked, and what it answers next: a text, or a status. Without any it fails. */
  readonly asked: Asked[];
  readonly answers: (string | number)[];
  close(): void;
}

export async function startEndpoint(): Promise<DraftEndpoint> {
  const asked: Asked[] = [];
  const answers: (string | number)[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Omit<Asked, 'authorization'>;
    asked.push({ ...body, authorization: request.headers.authorization });
    const answer = answers.shift() ?? 500;
    response.statusCode = typeof answer === 'number' ? answer : 200;
    response.end(JSON.stringify({ choices: [{ message: { content: answer } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { baseUrl, asked, answers, close: () => server.close() };
}

/** As a model answers. */
export function updated(code: string): string {
  return `Here it is:\n<updated_code>\n${code}</updated_code>`;
}
