/** The cells that this process works in. */
import { cellContext } from '../cell/server/serve-executor.js';
import type { ServerContext } from '../cell/server/server-context.js';
import type { Runtime } from '../index.js';
import type { WorkcellEvent } from '../protocol/index.js';

/** Results of ended actions to keep for repeated requests, in the one process that all tenants share. */
const contextLimits = { keptBytes: 4 * 1024 * 1024 };

/** A cell that a request works in. */
export interface CellInUse {
  readonly runtime: Runtime;
  readonly context: ServerContext;
  /** Call it when the request has ended. */
  done(): void;
}

export interface LiveCell {
  readonly runtime: Runtime;
  readonly context: ServerContext;
  readonly release: () => void;
  /** Requests under way. */
  users: number;
  usedAt: number;
}

/** What those who work in a cell ask of the service. */
interface Asked extends Required<Pick<ServerContext, 'closeExecutor' | 'beginAction'>> {
  onEvent(event: WorkcellEvent): void;
}

export function openLive(id: string, runtime: Runtime, { onEvent, ...asked }: Asked): LiveCell {
  const { workspace, isolation } = runtime;
  const { context, close } = cellContext(runtime, { id, workspace, isolation, limits: contextLimits });
  const stopListening = runtime.events.listen(onEvent);
  const release = () => {
    stopListening();
    close();
  };
  return { runtime, context: { ...context, ...asked }, release, users: 0, usedAt: Date.now() };
}

/** Counts a request in, until it is done. */
export function enter(live: LiveCell): CellInUse {
  live.users++;
  live.usedAt = Date.now();
  let over = false;
  const done = () => {
    if (over) return;
    over = true;
    live.users--;
    live.usedAt = Date.now();
  };
  const { runtime, context } = live;
  return { runtime, context, done };
}

/** For a request that only looks: the cell becomes idle as if nobody asked. */
export function lookInto({ runtime, context }: LiveCell): CellInUse {
  return { runtime, context, done: () => {} };
}
