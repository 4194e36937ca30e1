/** Routes to records and questions, for callers that the gate admits. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Outgoing } from '../base/http/outgoing.js';
import { parse } from '../base/http/parse-request.js';
import { WorkcellError, type WorkcellEvent } from '../protocol/index.js';
import {
  activityQuery,
  answerSchema,
  type ConsoleInfo,
  followQuery,
  type RecordPage,
  recordQuery,
  recordsQuery,
} from '../protocol/record-wire.js';
import { heartbeatMs, linesType } from '../protocol/wire.js';
import { briefEvent, briefJson } from './brief-event.js';
import { CellUses, type WatchedCell } from './cell-uses.js';
import type { Records } from './records.js';
import type { Awaitable, MadeAt, Page } from './service-store.js';

/** Who may see and answer what. */
export interface RecordGate {
  /** Whether the caller may see the record of a runtime, by its id. */
  sees(request: FastifyRequest): (id: string) => Awaitable<boolean>;
  /** A page of the cells whose records the caller may see; undefined for one who sees all records. */
  page(request: FastifyRequest, page: Page): Awaitable<readonly MadeAt[] | undefined>;
  /** What the page can do here. */
  info(request: FastifyRequest): ConsoleInfo;
  /** The cells whose last action the caller sees. */
  cells(request: FastifyRequest): readonly string[];
  /** A running cell that this process works in. */
  live(id: string): WatchedCell | undefined;
  /** Throws unless the caller decides about the actions of others; returns the caller's name. */
  decides(request: FastifyRequest): string;
}

export function recordRoutes(app: FastifyInstance, records: Records, gate: RecordGate): void {
  const uses = new CellUses((id) => gate.live(id));

  app.get('/v1/console', async (request) => gate.info(request));

  app.get('/v1/records', async (request) => {
    const { limit, cursor: before } = parse(recordsQuery, request.query);
    const cells = await gate.page(request, { limit: limit + 1, before });
    if (cells === undefined) return records.list({ limit, before });
    return records.of(cells.slice(0, limit), cells.length > limit ? cells[limit - 1] : undefined);
  });

  app.get('/v1/records/:id', async (request): Promise<RecordPage> => {
    const id = await readable(request);
    const { kind, brief, tail, ...query } = parse(recordQuery, request.query);
    const isBrief = brief !== undefined;
    const after =
      tail === undefined ? query.after : Math.max(query.after, (await records.last(id)) - query.limit);
    const wanted = { ...query, after, ...(kind !== undefined && { kinds: [kind] }) };
    const { events, more } = await records.read(id, wanted, isBrief);
    const last = events.at(-1);
    return {
      events: isBrief ? events.map(briefEvent) : events,
      ...(more && last !== undefined && { next: last.id }),
    };
  });

  app.get('/v1/records/:id/follow', async (request, reply) => {
    const id = await readable(request);
    const { after, brief, output } = parse(followQuery, request.query);
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': linesType,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    reply.raw.flushHeaders();
    const outgoing = new Outgoing(reply.raw);
    // Distinguishes a quiet stream from a dead one.
    const timer = setInterval(() => void outgoing.write('\n'), heartbeatMs);
    const line = (event: WorkcellEvent) =>
      `${brief === undefined ? JSON.stringify(event) : briefJson(event)}\n`;
    let printing: Promise<void> | undefined;
    const print = async (cell: WatchedCell | undefined) => {
      if (cell === undefined) return;
      for await (const lines of cell.output(outgoing.gone))
        for (const each of lines) await outgoing.write(`${JSON.stringify(each)}\n`);
    };
    // The service may begin to work in the cell later, and its events tell.
    const printAlso = () => {
      if (output === undefined || printing !== undefined) return;
      printing = print(gate.live(id)).finally(() => {
        printing = undefined;
      });
    };
    try {
      printAlso();
      for await (const page of records.follow(id, { after, brief: brief !== undefined }, outgoing.gone)) {
        printAlso();
        await outgoing.write(page.map(line).join(''));
      }
      await outgoing.end();
    } catch {
      // After the first bytes only a broken stream can report a failure.
      reply.raw.destroy();
    } finally {
      clearInterval(timer);
    }
    return reply;
  });

  app.get('/v1/activity', async (request) => {
    const { use, cell } = parse(activityQuery, request.query);
    const ids = gate.cells(request).filter((id) => cell === undefined || id === cell);
    const [activity, used] = await Promise.all([
      records.activity(ids),
      use === undefined ? undefined : uses.read(ids),
    ]);
    return activity.map((each) => ({ ...each, use: used?.get(each.id) }));
  });

  app.get('/v1/questions', async (request) => await questionsFor(request));

  app.post('/v1/questions/:id', async (request, reply) => {
    const name = gate.decides(request);
    const { who, ...given } = parse(answerSchema, request.body);
    const { id } = request.params as { id: string };
    const question = (await questionsFor(request)).find((open) => open.id === id);
    if (question === undefined) throw noQuestion(id);
    if (given.scope !== undefined && given.answer === 'deny')
      throw new WorkcellError('invalid-action', 'A refusal holds for this question alone. Leave out scope.', {
        details: { scope: given.scope },
      });
    if (given.scope === 'cell' && question.forCell !== true)
      throw new WorkcellError('invalid-action', 'This question is answered once only. Leave out scope.', {
        details: { scope: given.scope },
      });
    if (given.word !== undefined && (given.answer === 'approve' || question.kind === 'host'))
      throw new WorkcellError(
        'invalid-action',
        'A word to the agent goes with the refusal of an action. Leave out word.',
        { details: { answer: given.answer } },
      );
    // The key is what counts; the name is what its holder says.
    await records.answer(id, { ...given, who: who === undefined ? name : `${name} (${who})` });
    return reply.code(204).send();
  });

  /** A question belongs to its cell; one without a cell is for callers that see everything. */
  async function questionsFor(request: FastifyRequest) {
    const sees = gate.sees(request);
    const all = await records.questions();
    const seen = await Promise.all(all.map(({ cell }) => sees(cell ?? '')));
    return all.filter((_, index) => seen[index]);
  }

  async function readable(request: FastifyRequest): Promise<string> {
    const { id } = request.params as { id: string };
    if (!(await gate.sees(request)(id)))
      throw new WorkcellError('not-found', `There is no record of a runtime ${JSON.stringify(id)}.`, {
        details: { id },
      });
    await records.checkKnown(id);
    return id;
  }
}

function noQuestion(id: string): WorkcellError {
  return new WorkcellError(
    'not-found',
    `There is no open question ${JSON.stringify(id)}; it was answered, or its time is over and it counts as denied.`,
    { details: { id } },
  );
}
