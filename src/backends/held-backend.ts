/** Holds a foreign backend to the contract: checks its answers, and does not wait for ever for a missing one. */
import { z } from 'zod';
import { actions, isolationTiers, WorkcellError } from '../protocol/index.js';
import type { Backend, StartContext } from './backend.js';

/** For short work: loading a module, a probe, a list. */
const answerMs = 30_000;

/** For a start that reports nothing; a build that reports its steps may take any time. */
const silentMs = 600_000;

/** How long a cancelled start can take to undo its work. */
const undoMs = 5000;

export function holdBackend(backend: Backend): Backend {
  const { type, options, place, secrets, elsewhere, sharesWorkspace, attach, list, overlays, stats } =
    backend;
  const open = async (
    what: 'start' | 'attach',
    context: StartContext,
    begin: (context: StartContext) => Promise<unknown>,
  ) => {
    const given = await withReports(`${what} of backend "${type}"`, context, begin, (late) =>
      leave(late, what),
    );
    const problem = problemOf(cellSchema, given);
    if (problem === undefined) return given as Awaited<ReturnType<Backend['start']>>;
    await leave(given, what);
    throw broken(type, what, `a cell: ${problem}`);
  };
  return {
    type,
    options,
    place,
    secrets,
    elsewhere,
    sharesWorkspace,
    probe: (place) => within(`probe of backend "${type}"`, () => backend.probe(place)),
    start: (given, context) => open('start', context, (told) => backend.start(given, told)),
    ...(overlays !== undefined && {
      overlays: async (overlay) =>
        (await within(`overlay of backend "${type}"`, () => overlays.call(backend, overlay))) === true,
    }),
    ...(attach !== undefined && {
      attach: (id, where, context) =>
        open('attach', context, (told) => attach.call(backend, id, where, told)),
    }),
    ...(list !== undefined && {
      async list(where) {
        const cells = await within(`list of backend "${type}"`, () => list.call(backend, where));
        const problem = problemOf(cellsSchema, cells);
        if (problem === undefined) return cells;
        throw broken(type, 'list', `a list of cells: ${problem}`);
      },
    }),
    ...(stats !== undefined && {
      async stats(id, where, context) {
        const given = await within(`stats of backend "${type}"`, () =>
          stats.call(backend, id, where, context),
        );
        const problem = problemOf(actions.stats.output, given);
        if (problem === undefined) return given;
        throw broken(type, 'stats', `what a cell uses: ${problem}`);
      },
    }),
  };
}

/** Waits for short work. Node silently ends a program that waits for nothing else; the timer keeps it alive. */
export function within<Result>(what: string, begin: () => Promise<Result>): Promise<Result> {
  return withReports(what, { onStatus: () => {} }, begin, () => {}, answerMs);
}

/**
 * Waits until it settles, its signal aborts, or it reports nothing for too long. `undo` gets a result that comes
 * later.
 */
function withReports<Result, Context extends Pick<StartContext, 'onStatus' | 'signal'>>(
  what: string,
  context: Context,
  begin: (context: Context) => Promise<Result>,
  undo: (late: Result) => unknown,
  limitMs = silentMs,
): Promise<Result> {
  const { signal, onStatus } = context;
  return new Promise((resolve, reject) => {
    let isOver = false;
    let isCancelled = false;
    const end = () => {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    };
    const giveUp = (error: WorkcellError) => {
      end();
      reject(error);
    };
    const cancelled = () => new WorkcellError('cancelled', `The ${what} was cancelled.`);
    const cancel = () => {
      isCancelled = true;
      clearTimeout(timer);
      timer = setTimeout(() => giveUp(cancelled()), undoMs);
    };
    let timer = setTimeout(() => {
      const message = `The ${what} did not answer within ${limitMs / 1000} seconds. Mend that backend, or name another one.`;
      giveUp(new WorkcellError('backend-unavailable', message));
    }, limitMs);
    const told: Context = {
      ...context,
      onStatus: (update) => {
        if (!isOver && !isCancelled) timer.refresh();
        onStatus(update);
      },
    };
    signal?.addEventListener('abort', cancel, { once: true });
    // A foreign function may throw although it promises to reject.
    Promise.resolve()
      .then(() => begin(told))
      .then(
        async (result) => {
          if (isOver || isCancelled) await undo(result);
          if (isCancelled) giveUp(cancelled());
          else if (!isOver) {
            end();
            resolve(result);
          }
        },
        (error: unknown) => {
          if (!isOver) end();
          reject(error);
        },
      );
  });
}

/** Ends a cell that started too late or is invalid, or releases an attached one, as far as possible. */
async function leave(given: unknown, what: 'start' | 'attach'): Promise<void> {
  const cell = (given ?? {}) as { stop?: unknown; detach?: unknown };
  const end = what === 'start' ? cell.stop : cell.detach;
  if (typeof end === 'function') await Promise.resolve(end.call(cell)).catch(() => {});
}

const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');

const cellSchema = z.object({
  id: z.string(),
  backend: z.string(),
  workspace: z.string(),
  executor: z.custom(
    (value) => typeof (value as { execute?: unknown } | null | undefined)?.execute === 'function',
    'must be an executor',
  ),
  isolation: z.object({ tier: z.enum(isolationTiers), facts: z.array(z.object({ code: z.string() })) }),
  stop: isFunction,
  detach: isFunction.optional(),
});

const cellsSchema = z.array(
  z.object({
    id: z.string(),
    backend: z.string(),
    place: z.record(z.string(), z.unknown()),
    status: z.enum(['running', 'paused', 'stopped', 'lost']),
    startedAt: z.date().optional(),
    workspace: z.string().optional(),
    isolation: z.enum(isolationTiers).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    heldBy: z.number().optional(),
  }),
);

function problemOf(schema: z.ZodType, given: unknown): string | undefined {
  const result = schema.safeParse(given);
  const issue = result.error?.issues[0];
  return issue === undefined ? undefined : [...issue.path, issue.message].join(': ');
}

function broken(type: string, what: string, instead: string): WorkcellError {
  return new WorkcellError('invalid-config', `The ${what} of backend "${type}" did not give ${instead}.`, {
    details: { backend: type },
  });
}
