/** The client of a service: cells and keys over `fetch`. Runs in browsers, too. */
import type { z } from 'zod';
import type { Observation } from '../protocol/actions/index.js';
import {
  type CellDiff,
  type CheckpointCell,
  type CheckpointPage,
  cellDiffSchema,
  checkpointPageSchema,
  type ForkCell,
  type ForkedCells,
  forkedCellsSchema,
  type RewindCell,
  type RewoundCell,
  rewoundCellSchema,
  type ServiceCheckpoint,
  serviceCheckpointSchema,
} from '../protocol/checkpoint-wire.js';
import { type ErrorBody, errorCodes, WorkcellError } from '../protocol/errors.js';
import {
  type CellNews,
  type CellPage,
  type ChangeCell,
  type CreateCell,
  type CreateKey,
  type CreatePreview,
  cellNewsSchema,
  cellPageSchema,
  cellStatsSchema,
  type KeyPage,
  keyPageSchema,
  longestWaitMs,
  type NewKey,
  newKeySchema,
  type Preview,
  previewSchema,
  type ServiceCell,
  type ServiceKey,
  type ServiceStatus,
  type ServiceTemplateInfo,
  type ServiceUsage,
  serviceCellSchema,
  serviceStatusSchema,
  serviceTemplateSchema,
  usageSchema,
} from '../protocol/service-wire.js';
import { traceHeaders } from '../protocol/tracing.js';

/** Where a service is, and the key to it. */
export interface ServiceClientOptions {
  /** Such as `http://127.0.0.1:8720`. */
  readonly url: string;
  readonly apiKey: string;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Which cells `list` returns. */
export interface ListOptions {
  /** All of them must fit. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly state?: ServiceCell['state'] | undefined;
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

interface SendOptions extends CallOptions {
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Makes, finds and ends the cells of a service. To work in one, use backend `service`, or `remote` at its address. */
export class ServiceClient {
  readonly #url: string;
  readonly #apiKey: string;
  readonly #fetch: typeof fetch;

  constructor({ url, apiKey, fetch: given = fetch }: ServiceClientOptions) {
    this.#url = url.endsWith('/') ? url.slice(0, -1) : url;
    this.#apiKey = apiKey;
    this.#fetch = given;
  }

  /**
   * A new cell, or the existing one of this name. With `idempotencyKey`, a repeated request creates no second cell.
   */
  create(
    cell: CreateCell = {},
    { idempotencyKey, signal }: CallOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<ServiceCell> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.#ask('POST', '/v1/cells', serviceCellSchema, { body: cell, headers, signal });
  }

  /** By its id or its name. */
  get(cell: string, options: CallOptions = {}): Promise<ServiceCell> {
    return this.#ask('GET', pathOf(cell), serviceCellSchema, options);
  }

  /** The cell once it is in that state; fails with `timed-out` after `timeoutMs`, by default 30,000. */
  async wait(
    cell: string,
    state: ServiceCell['state'],
    { timeoutMs = 30_000, signal }: CallOptions & { readonly timeoutMs?: number | undefined } = {},
  ): Promise<ServiceCell> {
    for (let left = timeoutMs; left > longestWaitMs; left -= longestWaitMs) {
      try {
        return await this.#wait(cell, state, { timeoutMs: longestWaitMs, signal });
      } catch (error) {
        if (!WorkcellError.isInstance(error) || error.code !== 'timed-out') throw error;
      }
    }
    const timeLeft = timeoutMs > longestWaitMs ? timeoutMs % longestWaitMs || longestWaitMs : timeoutMs;
    return this.#wait(cell, state, { timeoutMs: timeLeft, signal });
  }

  #wait(
    cell: string,
    state: ServiceCell['state'],
    { timeoutMs, signal }: CallOptions & { readonly timeoutMs: number },
  ): Promise<ServiceCell> {
    const query = new URLSearchParams({ wait: state, timeoutMs: String(timeoutMs) });
    return this.#ask('GET', `${pathOf(cell)}?${query}`, serviceCellSchema, { signal });
  }

  /** All cells, then each change as it comes, until you abort or leave the loop. Fails when the connection breaks. */
  async *watch(
    { labels = {} }: Pick<ListOptions, 'labels'> = {},
    { signal }: CallOptions = {},
  ): AsyncGenerator<CellNews> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(labels)) query.append('label', `${name}=${value}`);
    const response = await this.#send('GET', `/v1/cells/watch?${query}`, { signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
      while (reader !== undefined) {
        const { done, value = '' } = await reader.read().catch((cause: unknown) => {
          if (signal?.aborted) return { done: true, value: '' };
          throw new WorkcellError('backend-unavailable', `The connection to ${this.#url} broke.`, { cause });
        });
        if (done) return;
        const lines = (rest + value).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line !== '') yield cellNewsSchema.parse(JSON.parse(line));
      }
    } finally {
      await reader?.cancel().catch(() => {});
    }
  }

  /** One page of cells. */
  list(
    { labels = {}, state, limit, cursor }: ListOptions = {},
    options: CallOptions = {},
  ): Promise<CellPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(labels)) query.append('label', `${name}=${value}`);
    for (const [name, value] of Object.entries({ state, limit, cursor }))
      if (value !== undefined) query.set(name, String(value));
    return this.#ask('GET', `/v1/cells?${query}`, cellPageSchema, options);
  }

  /** Every cell, page after page. */
  async *all(options: Pick<ListOptions, 'labels' | 'state'> = {}): AsyncGenerator<ServiceCell> {
    let cursor: string | undefined;
    do {
      const page = await this.list({ ...options, cursor, limit: 1000 });
      yield* page.cells;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Changes labels and limits. */
  change(cell: string, change: ChangeCell, options: CallOptions = {}): Promise<ServiceCell> {
    return this.#ask('PATCH', pathOf(cell), serviceCellSchema, { body: change, ...options });
  }

  /** Pauses everything in a cell, until you resume or use it. */
  pause(cell: string, options: CallOptions = {}): Promise<ServiceCell> {
    return this.#ask('POST', `${pathOf(cell)}/pause`, serviceCellSchema, options);
  }

  resume(cell: string, options: CallOptions = {}): Promise<ServiceCell> {
    return this.#ask('POST', `${pathOf(cell)}/resume`, serviceCellSchema, options);
  }

  /** Ends a cell and leaves nothing behind. */
  async remove(cell: string, options: CallOptions = {}): Promise<void> {
    await this.#send('DELETE', pathOf(cell), options);
  }

  /** Counts as use of a cell until you abort or the connection breaks, so that it does not become idle. */
  async hold(cell: string, options: CallOptions = {}): Promise<void> {
    const response = await this.#send('GET', `${pathOf(cell)}/hold`, options);
    const reader = response.body?.getReader();
    while (reader !== undefined && !(await reader.read()).done);
  }

  /** A link to a port of a cell, for browsers: whoever has it may use that port. */
  preview(cell: string, preview: CreatePreview, options: CallOptions = {}): Promise<Preview> {
    return this.#ask('POST', `${pathOf(cell)}/previews`, previewSchema, { body: preview, ...options });
  }

  /** Keeps the files of a cell as they are now. They outlive the cell; `create({ checkpoint })` starts another one with them. */
  checkpoint(
    cell: string,
    checkpoint: CheckpointCell = {},
    options: CallOptions = {},
  ): Promise<ServiceCheckpoint> {
    const path = `${pathOf(cell)}/checkpoints`;
    return this.#ask('POST', path, serviceCheckpointSchema, { body: checkpoint, ...options });
  }

  /** One page of checkpoints, the oldest first. `cell`: the id of one, which may have ended. */
  listCheckpoints(
    {
      cell,
      limit,
      cursor,
    }: Pick<ListOptions, 'limit' | 'cursor'> & { readonly cell?: string | undefined } = {},
    options: CallOptions = {},
  ): Promise<CheckpointPage> {
    const query = queryOf({ cell, limit, cursor });
    return this.#ask('GET', `/v1/checkpoints?${query}`, checkpointPageSchema, options);
  }

  getCheckpoint(id: string, options: CallOptions = {}): Promise<ServiceCheckpoint> {
    return this.#ask('GET', `/v1/checkpoints/${encodeURIComponent(id)}`, serviceCheckpointSchema, options);
  }

  /** Cells that began with it keep their files. */
  async removeCheckpoint(id: string, options: CallOptions = {}): Promise<void> {
    await this.#send('DELETE', `/v1/checkpoints/${encodeURIComponent(id)}`, options);
  }

  /** Puts the files of a cell back, and keeps the present ones as another checkpoint. Processes continue. */
  rewind(cell: string, to: RewindCell, options: CallOptions = {}): Promise<RewoundCell> {
    return this.#ask('POST', `${pathOf(cell)}/rewind`, rewoundCellSchema, { body: to, ...options });
  }

  /** Starts cells of the same template with the files of this one, or of a checkpoint. All of them, or none. */
  fork(cell: string, fork: ForkCell = {}, options: CallOptions = {}): Promise<ForkedCells> {
    return this.#ask('POST', `${pathOf(cell)}/fork`, forkedCellsSchema, { body: fork, ...options });
  }

  /** What differs between a checkpoint and another one, or the cell as it is now. */
  diff(
    cell: string,
    { before, after }: { readonly before: string; readonly after?: string | undefined },
    options: CallOptions = {},
  ): Promise<CellDiff> {
    return this.#ask('GET', `${pathOf(cell)}/diff?${queryOf({ before, after })}`, cellDiffSchema, options);
  }

  /** What your tenant used on each of the last 31 days, or between two days (`YYYY-MM-DD`); all tenants for the operator. */
  usage(
    { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined } = {},
    options: CallOptions = {},
  ): Promise<ServiceUsage[]> {
    return this.#ask('GET', `/v1/usage?${queryOf({ from, to })}`, usageSchema.array(), options);
  }

  /** What a running cell uses now. */
  async stats(cell: string, options: CallOptions = {}): Promise<Observation<'stats'>> {
    const { cell: used } = await this.#ask('GET', `${pathOf(cell)}/v1/stats`, cellStatsSchema(), options);
    return used;
  }

  /** How the service does, for its operator. */
  status(options: CallOptions = {}): Promise<ServiceStatus> {
    return this.#ask('GET', '/v1/status', serviceStatusSchema, options);
  }

  /** The templates for cells. */
  templates(options: CallOptions = {}): Promise<ServiceTemplateInfo[]> {
    return this.#ask('GET', '/v1/templates', serviceTemplateSchema.array(), options);
  }

  /** The key itself is in the answer, and nowhere else. */
  createKey(key: CreateKey = {}, options: CallOptions = {}): Promise<NewKey> {
    return this.#ask('POST', '/v1/keys', newKeySchema, { body: key, ...options });
  }

  /** One page of keys, without what makes them keys. */
  listKeys(
    { limit, cursor }: Pick<ListOptions, 'limit' | 'cursor'> = {},
    options: CallOptions = {},
  ): Promise<KeyPage> {
    return this.#ask('GET', `/v1/keys?${queryOf({ limit, cursor })}`, keyPageSchema, options);
  }

  /** Every key, page after page. */
  async *allKeys(): AsyncGenerator<ServiceKey> {
    let cursor: string | undefined;
    do {
      const page = await this.listKeys({ cursor, limit: 1000 });
      yield* page.keys;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  async removeKey(id: string, options: CallOptions = {}): Promise<void> {
    await this.#send('DELETE', `/v1/keys/${encodeURIComponent(id)}`, options);
  }

  /** Where the native API of a cell begins: what backend `remote` takes as `url`. */
  address(cell: string): string {
    return `${this.#url}${pathOf(cell)}`;
  }

  async #ask<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    options: SendOptions,
  ): Promise<z.output<Schema>> {
    const response = await this.#send(method, path, options);
    const result = schema.safeParse(await response.json().catch(() => undefined));
    if (result.success) return result.data;
    throw new WorkcellError('internal', `${this.#url} answers what no Workcell service answers.`, {
      details: { url: this.#url },
      cause: result.error,
    });
  }

  async #send(method: string, path: string, { body, headers, signal }: SendOptions): Promise<Response> {
    const request = this.#fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...traceHeaders(),
        authorization: `Bearer ${this.#apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    const response = await request.catch((cause: unknown) => {
      if (signal?.aborted) throw new WorkcellError('cancelled', 'You cancelled the request.', { cause });
      throw new WorkcellError('backend-unavailable', `No service answers at ${this.#url}.`, {
        details: { url: this.#url },
        cause,
      });
    });
    if (response.ok) return response;
    throw await failureOf(this.#url, response);
  }
}

function pathOf(cell: string): string {
  return `/v1/cells/${encodeURIComponent(cell)}`;
}

function queryOf(values: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query;
}

async function failureOf(url: string, response: Response): Promise<WorkcellError> {
  const body = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined;
  const error = body?.error;
  const requestId = response.headers.get('x-request-id');
  const found = requestId === null ? {} : { requestId };
  if (error !== undefined && errorCodes.includes(error.code))
    return new WorkcellError(error.code, String(error.message), { details: { ...error.details, ...found } });
  return new WorkcellError('internal', `The service at ${url} answers with status ${response.status}.`, {
    details: { url, status: response.status, ...found },
  });
}
