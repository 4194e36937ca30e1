/** The real executor: carries actions out in the cell that a launcher leads to. */
import { removeTree } from '../../base/remove-tree.js';
import {
  type Action,
  type ActionName,
  actions,
  type CoreActionName,
  type Executor,
  type Observation,
  WorkcellError,
} from '../../protocol/index.js';
import type { Launcher } from '../launchers/launcher.js';
import { makeScratch } from '../launchers/scratch.js';
import type { CellExecutor } from '../plugins/plugin-cell.js';
import { Environment } from './cell-environment.js';
import { EditHistory } from './files/edit-history.js';
import { spaceError } from './files/file-errors.js';
import { Tree } from './files/file-tree.js';
import type { Activity, CellParts, Handler } from './handler-context.js';
import { handlers } from './handlers/index.js';
import { OutputStore } from './output/output-store.js';
import { Processes } from './processes/plain-processes.js';
import { Shells } from './shell/shells.js';
import type { SpareShell } from './shell/spare.js';

/** `spare`: a shell that started in advance, with the variables of the launcher. */
export function createExecutor(
  launcher: Launcher,
  { spare }: { spare?: SpareShell | undefined } = {},
): CellExecutor {
  // Kept output stays on this side, where nothing in the cell can reach it.
  let scratch: string | undefined;
  const environment = new Environment(launcher.environment);
  const outputs = new OutputStore(() => {
    scratch ??= makeScratch('output');
    return scratch;
  });
  const tree = new Tree(launcher.files);
  const activity: Activity = { startedAt: performance.now(), running: 0, lastEndedAt: performance.now() };
  const shells = new Shells({ launcher, environment, outputs, tree, spare });
  const processes = new Processes({ launcher, environment, outputs, tree });
  const cell: CellParts = {
    launcher,
    tree,
    edits: new EditHistory(),
    environment,
    outputs,
    shells,
    processes,
    activity,
  };
  let closing: Promise<void> | undefined;

  async function execute<Name extends ActionName>(
    action: Action<Name>,
    context: Parameters<Executor['execute']>[1] = {},
  ): Promise<Observation<Name>> {
    if (closing !== undefined)
      throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
    if (context.signal?.aborted)
      throw new WorkcellError('cancelled', `The ${action.action} was cancelled before it began.`);
    activity.running++;
    try {
      const handler = handlers[action.action as CoreActionName] as unknown as Handler<CoreActionName>;
      return (await handler(action as Action<CoreActionName>, cell, context)) as Observation<Name>;
    } catch (error) {
      throw spaceError(error, action.action);
    } finally {
      activity.running--;
      activity.lastEndedAt = performance.now();
    }
  }

  return {
    actions,
    execute,
    async upload(path, content, options = {}) {
      const { upload } = await import('./files/upload-files.js');
      return upload(tree, path, content, options);
    },
    async download(path, options = {}) {
      const { download } = await import('./files/download-files.js');
      return download(tree, path, options);
    },
    connect: (port) => launcher.connect(port),
    openOutput: () => outputs.open(),
    async openTerminal(options = {}) {
      const { openTerminal } = await import('./executor-terminal.js');
      return openTerminal({ launcher, environment, tree }, options);
    },
    close() {
      closing ??= (async () => {
        await shells.close();
        await processes.close();
        await launcher.close();
        outputs.close();
        await tree.close();
        if (scratch !== undefined) removeTree(scratch);
      })();
      return closing;
    },
  };
}
