/** The runtimes of a service: kept cells, created and attached to like any other, under the configuration of its owner. */
import type { Log } from '../base/http/http-options.js';
import { type AttachRuntimeOptions, attachRuntime, createRuntime, listCells } from '../index.js';
import type { StatusUpdate } from '../protocol/index.js';
import type { RuntimeSource } from './service-cells.js';
import type { CellRecord } from './service-store.js';
import type { Template } from './templates.js';

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
  return {
    create: (id, options, onLost) =>
      createRuntime({ ...options, id, config, onStatus: watch(onLost) } as Parameters<
        typeof createRuntime
      >[0]),
    attach: ({ ref, template }, onLost) =>
      attachRuntime(ref, {
        config,
        plugins: templates.get(template)?.plugins,
        onStatus: watch(onLost),
      } as AttachRuntimeOptions),
    async find(records) {
      const wanted = new Set(records.map(({ ref }) => JSON.stringify([ref.backend, ref.place])));
      const found = new Set<string>();
      for (const place of wanted) {
        const [backend, where] = JSON.parse(place) as [string, CellRecord['ref']['place']];
        try {
          const cells = await listCells({ backend, ...where, config } as Parameters<typeof listCells>[0]);
          for (const { id, status } of cells) if (status !== 'lost') found.add(id);
        } catch (error) {
          // We do not know which cells exist, so call none lost; using a cell will show it.
          const reason = error instanceof Error ? error.message : String(error);
          log('warn', `The cells of backend ${backend} cannot be listed now.`, { reason });
          return undefined;
        }
      }
      return found;
    },
  };
}
