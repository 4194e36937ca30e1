/** Requests to the service that this page came from. */
import type { ErrorBody } from '../../src/protocol/errors.js';
import { socketKeyPrefix, socketProtocol } from '../../src/protocol/record-wire.js';
import { currentKey } from './session.js';

/** What the service refuses, in its words. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface AskOptions {
  readonly method?: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** Sends a request and gives the answer as it comes, for those who read streams and bytes. */
export async function send(
  path: string,
  { method = 'GET', body, signal }: AskOptions = {},
): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${currentKey() ?? ''}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw new ApiError('backend-unavailable', 'The service does not answer.');
  });
  if (response.ok) return response;
  throw await failureOf(response);
}

export async function ask<Answer>(path: string, options: AskOptions = {}): Promise<Answer> {
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** An action in a cell, through the pipeline like any other. */
export function act<Answer>(
  cell: string,
  action: { action: string; [field: string]: unknown },
): Promise<Answer> {
  return ask(`${cellPath(cell)}/v1/actions`, { method: 'POST', body: action });
}

export function cellPath(cell: string): string {
  return `/v1/cells/${encodeURIComponent(cell)}`;
}

/** A browser lets no page set headers of a WebSocket, so the key goes along as a protocol. */
export function openSocket(path: string): WebSocket {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const bytes = new TextEncoder().encode(currentKey() ?? '');
  const key = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return new WebSocket(url, [socketProtocol, `${socketKeyPrefix}${key}`]);
}

async function failureOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: ErrorBody };
  return new ApiError(
    error?.code ?? 'internal',
    error?.message ?? `The service answers with status ${response.status}.`,
  );
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
