/** Sends requests to the build service, and checks the form and length of its answers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { readUntrustedJson } from '../../../base/untrusted-json.js';
import { WorkcellError } from '../../../protocol/index.js';

const longestAnswer = 1024 * 1024;

export interface Service {
  get<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Schema>>;
  /** How long to wait before repeating a request that the service was too busy for. */
  post<Schema extends z.ZodType>(
    path: string,
    form: FormData,
    schema: Schema,
    options: { signal: AbortSignal; busyMs: number },
  ): Promise<z.output<Schema>>;
}

export function openService({ url, apiKey }: { url: string; apiKey: string }): Service {
  const base = parseUrl(url);

  async function request(path: string, init: RequestInit): Promise<Response> {
    try {
      // A redirect would carry the key elsewhere.
      return await fetch(`${base}${path}`, { ...init, redirect: 'error', headers: { 'X-API-Key': apiKey } });
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      const reason =
        (cause as Error).cause instanceof Error ? (cause as { cause: Error }).cause : (cause as Error);
      throw new WorkcellError(
        'backend-unavailable',
        `The service that builds images does not answer at ${base}: ${reason.message}.`,
        { details: { url: base }, cause },
      );
    }
  }

  return {
    get: async (path, schema, signal) => read(await request(path, { signal: signal ?? null }), schema),
    async post(path, form, schema, { signal, busyMs }) {
      for (;;) {
        const response = await request(path, { method: 'POST', body: form, signal });
        if (response.status !== 429) return read(response, schema);
        await response.body?.cancel();
        await pause(busyMs, undefined, { signal });
      }
    },
  };
}

async function read<Schema extends z.ZodType>(response: Response, schema: Schema): Promise<z.output<Schema>> {
  const text = await shortText(response);
  const details = { status: response.status };
  if (response.status === 401 || response.status === 403)
    throw new WorkcellError('unauthorized', 'The service that builds images does not accept the key.', {
      details,
    });
  if (!response.ok) {
    throw new WorkcellError(
      response.status >= 500 ? 'backend-unavailable' : 'build-failed',
      `The service that builds images answered ${response.status}: ${text.slice(0, 500)}`,
      { details },
    );
  }
  const result = schema.safeParse(readUntrustedJson(text));
  if (result.success) return result.data;
  throw new WorkcellError(
    'backend-unavailable',
    'The service that builds images gave an answer that does not fit its API. Is the address right?',
    { details, cause: result.error },
  );
}

async function shortText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > longestAnswer) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.username === '')
    return url.href.replace(/\/+$/, '');
  throw new WorkcellError(
    'invalid-config',
    `"${text}" is not the address of a service. Give one such as https://runtime.example.com.`,
  );
}
