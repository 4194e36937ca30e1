/** The runtimes of a service: kept cells, created and attached to like any other, under the configuration of its owner. */
import type { Log } from '../base/http/http-options.js';
import {
  type AttachRuntimeOptions,
  attachRuntime,
  createRuntime,
  listCells,
  type Runtime,
} from '../index.js';
import type { StatusUpdate } from '../protocol/index.js';
import { traced } from '../protocol/tracing.js';
import type { CellRecord } from './service-store.js';
import type { Template } from './templates.js';

/** Creates runtimes; a service uses `createRuntime` and `attachRuntime`. */
export interface RuntimeSource {
  create(id: string, options: Record<string, unknown>, onLost: () => void): Promise<Runtime>;
  attach(record: CellRecord, onLost: () => void): Promise<Runtime>;
  /** Whether each of these cells still exists, by id; says nothing of those whose backend does not answer. */
  find(records: readonly CellRecord[]): Promise<ReadonlyMap<string, boolean>>;
}

/** How long to wait for what a place says of its cells. */
const answerMs = 30_000;

/** Creates runtimes; a service uses `createRuntime` and `attachRuntime`. */
export interface RuntimeSource {
  create(id: string, options: Record<string, unknown>, onLost: () => void): Promise<Runtime>;
  attach(record: CellRecord, onLost: () => void): Promise<Runtime>;
  /** Whether each of these cells still exists, by id; says nothing of those whose backend does not answer. */
  find(records: readonly CellRecord[]): Promise<ReadonlyMap<string, boolean>>;
}

export function runtimeSource({
  config,
  templates,
  log,
}: {
  readonly templates: ReadonlyMap<string, Template>;
  readonly config: string | false | undefined;
  readonly log: Log;
}): RuntimeSource {
  const watch = (onLost: () => void) => (update: StatusUpdate) => {
    if (update.status === 'ERROR_RUNTIME_DISCONNECTED') onLost();
  };
  // What the operator allowed for always is not for the cells of others.
  const own = { config, rememberHosts: false };
  return {
    create(id, options, onLost) {
      const all = { ...options, ...own, id, onStatus: watch(onLost) };
      const attributes = { 'workcell.cell': id, 'workcell.backend': String(options.backend) };
      return traced(
        'start cell',
        () => ({ attributes }),
        () => createRuntime(all as Parameters<typeof createRuntime>[0]),
      );
    },
    attach: ({ ref, template }, onLost) =>
      attachRuntime(ref, {
        ...own,
        plugins: templates.get(template)?.plugins,
        onStatus: watch(onLost),
      } as AttachRuntimeOptions),
    async find(records) {
      const places = new Map<string, CellRecord[]>();
      for (const record of records) {
        const place = JSON.stringify([record.ref.backend, record.ref.place]);
        const wanted = places.get(place) ?? [];
        wanted.push(record);
        places.set(place, wanted);
      }
      const found = new Map<string, boolean>();
      const look = async (wanted: readonly CellRecord[]) => {
        const { backend, place } = (wanted[0] as CellRecord).ref;
        try {
          const there = await inTime(
            listCells({ backend, ...place, config } as Parameters<typeof listCells>[0]),
          );
          const ids = new Set(there.filter(({ status }) => status !== 'lost').map(({ id }) => id));
          for (const { id } of wanted) found.set(id, ids.has(id));
        } catch (error) {
          // We do not know which of its cells exist, so call none lost; using a cell will show it.
          const reason = error instanceof Error ? error.message : String(error);
          log('warn', `The cells of backend ${backend} cannot be listed now.`, { reason });
        }
      };
      await Promise.all([...places.values()].map(look));
      return found;
    },
  };
}

/** One place that is silent must not keep us from what the others say. */
function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it gives no answer')), answerMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
