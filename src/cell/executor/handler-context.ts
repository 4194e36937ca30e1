import type { Action, CoreActionName, ExecuteContext, Observation } from '../../protocol/index.js';
import type { Launcher } from '../launchers/launcher.js';
import type { Environment } from './cell-environment.js';
import type { EditHistory } from './files/edit-history.js';
import type { Tree } from './files/file-tree.js';
import type { OutputStore } from './output/output-store.js';
import type { Processes } from './processes/plain-processes.js';
import type { Shells } from './shell/shells.js';

/** What handlers work with: the parts of one cell. */
export interface CellParts {
  readonly launcher: Launcher;
  readonly tree: Tree;
  readonly edits: EditHistory;
  readonly environment: Environment;
  readonly outputs: OutputStore;
  readonly shells: Shells;
  readonly processes: Processes;
  readonly activity: Activity;
}

/** When the cell was last busy, on a clock that does not jump. */
export interface Activity {
  readonly startedAt: number;
  running: number;
  lastEndedAt: number;
}

export type Handler<Name extends CoreActionName> = (
  action: Action<Name>,
  cell: CellParts,
  context: ExecuteContext,
) => Observation<Name> | Promise<Observation<Name>>;
