/** A cell whose executor runs elsewhere, behind a byte stream. Every backend that starts one there uses this. */
import type { Cell, Isolation } from '../protocol/index.js';
import type { ServerInfo } from '../protocol/wire.js';
import type { HttpExecutor } from '../runtime/client/http-executor.js';
import type { Lease } from './lease.js';

/** The parts of such a cell. */
export interface ServedCell {
  readonly id: string;
  /** The type of the backend. */
  readonly backend: string;
  /** The result of `reachExecutor`. */
  readonly reached: { readonly executor: HttpExecutor; readonly info: ServerInfo };
  /** What the place enforces. Default: the executor's own report, which knows nothing of the place. */
  readonly isolation?: Isolation | undefined;
  /** Settles when the place dies by itself. Default: when we cannot reach the executor any more. */
  readonly lost?: Promise<string> | undefined;
  /** For a kept cell; without it, the cell cannot `detach`. */
  readonly lease?: Lease | undefined;
  /** Nobody else has its workspace: then a kept cell has checkpoints. */
  readonly ownsWorkspace?: boolean | undefined;
  /** Ends the place and leaves nothing behind; its commands have ended by then, or it does not answer. */
  end(): Promise<void>;
}

/** Creates the cell. `stop` and `detach` do their work once, whichever comes first. */
export function servedCell(served: ServedCell): Cell {
  const { id, backend, reached, lease } = served;
  const { executor, info } = reached;
  let over: Promise<void> | undefined;
  const stop = async () => {
    try {
      await executor.close();
      await served.end();
    } finally {
      lease?.release();
    }
  };
  return {
    id,
    backend,
    executor,
    isolation: served.isolation ?? info.isolation,
    workspace: info.workspace,
    ownsWorkspace: served.ownsWorkspace,
    lost: served.lost ?? executor.lost,
    stop() {
      over ??= stop();
      return over;
    },
    ...(lease !== undefined && {
      detach() {
        over ??= executor.disconnect().then(() => lease.release());
        return over;
      },
    }),
  };
}
