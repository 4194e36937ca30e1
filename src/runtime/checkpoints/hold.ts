/** Holds everything that could change the files of a cell while somebody reads them from outside. */
import {
  type Action,
  type ActionName,
  type Cell,
  type ExecuteContext,
  type FieldKind,
  type PoolStats,
  type UploadOptions,
  WorkcellError,
} from '../../protocol/index.js';

export interface Holdable {
  /** The same cell; its actions wait while we hold it. */
  readonly cell: Cell;
  /**
   * Calls `work` while nothing in the cell runs and no file action is under way. One at a time.
   */
  hold<T>(work: () => Promise<T>, options?: HoldAs): Promise<T>;
}

export interface HoldAs {
  /**
   * On behalf of an action that goes on afterwards. Then it fails with `session-busy` while an upload is under way, whose content
   * may come from that action.
   */
  readonly forAction?: boolean | undefined;
  /** Fails with `session-busy` while commands or processes run, in place of stopping them for the moment. */
  readonly refuses?: boolean | undefined;
}

type Kind = 'file' | 'upload' | 'command' | 'other';

export interface HoldOptions {
  /** Whoever holds the cell reads its files through its executor, which would not answer while it is paused. */
  readonly isMirrored?: boolean | undefined;
  /** Called with the name of each action that may change files, and awaited before it begins. */
  readonly beforeChange?: ((action: string) => Promise<void>) | undefined;
}

export function holdable(cell: Cell, { isMirrored = false, beforeChange }: HoldOptions = {}): Holdable {
  const { executor } = cell;
  const canPause = cell.pause !== undefined && !isMirrored;
  const { connect, capabilities } = executor;
  let turn: Promise<unknown> = Promise.resolve();
  let held: Promise<void> | undefined;
  let isPaused = false;
  let commands = 0;
  let writing = 0;
  let uploads = 0;
  let onQuiet = () => {};

  async function when<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
    while (held !== undefined) await held;
    const isWriting = kind === 'file' || kind === 'upload';
    if (isWriting) writing++;
    if (kind === 'upload') uploads++;
    if (kind === 'command') commands++;
    try {
      return await work();
    } finally {
      if (kind === 'command') commands--;
      if (kind === 'upload') uploads--;
      if (isWriting && --writing === 0) onQuiet();
    }
  }

  /** What pauses and resumes the cell comes one after the other, so each knows how the one before left it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  async function stopped<T>(work: () => Promise<T>, { forAction, refuses }: HoldAs): Promise<T> {
    if (forAction && uploads > 0 && !isPaused) throw uploading(cell.backend);
    let release = () => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    try {
      if (isMirrored && isPaused) throw paused(cell.backend);
      // An action that waits for a paused cell has not begun.
      if (writing > 0 && !isPaused)
        await new Promise<void>((resolve) => {
          onQuiet = resolve;
        });
      if (refuses && !isPaused && (commands > 0 || (await hasRunning()) || (await hasProcesses())))
        throw runs(cell.backend);
      if (!canPause && (commands > 0 || (await hasRunning()))) throw busy(cell.backend);
      if (!canPause || isPaused) return await work();
      await cell.pause?.();
      try {
        return await work();
      } finally {
        await cell.resume?.();
      }
    } finally {
      held = undefined;
      onQuiet = () => {};
      release();
    }
  }

  /** A command that outlived the call that started it. */
  async function hasRunning(): Promise<boolean> {
    if (executor.actions?.list_sessions === undefined) return false;
    const { sessions } = await executor.execute<'list_sessions'>({ action: 'list_sessions' });
    return sessions.some(({ running }) => running !== null);
  }

  /** Started by an action of their own, in the background. */
  async function hasProcesses(): Promise<boolean> {
    if (executor.actions?.list_processes === undefined) return false;
    const { processes } = await executor.execute<'list_processes'>({ action: 'list_processes' });
    return processes.some(({ running }) => running);
  }

  function kindOf(action: ActionName): Kind {
    const definition = executor.actions[action];
    if (definition?.startsProcess) return 'command';
    // This side carries it out itself, so stopping the processes of the cell does not stop it.
    return Object.values<FieldKind>(definition?.kinds ?? {}).some(changesPath) ? 'file' : 'other';
  }
  return {
    cell: {
      ...cell,
      // A foreign backend may return an instance of a class.
      id: cell.id,
      backend: cell.backend,
      isolation: cell.isolation,
      workspace: cell.workspace,
      ports: cell.ports,
      network: cell.network,
      lost: cell.lost,
      stop: () => cell.stop(),
      ...(cell.poolStats !== undefined && { poolStats: () => cell.poolStats?.() as PoolStats }),
      executor: {
        actions: executor.actions,
        execute: async <Name extends ActionName>(action: Action<Name>, context?: ExecuteContext) => {
          const kind = kindOf(action.action);
          if (kind !== 'other') await beforeChange?.(action.action);
          return when(kind, () => executor.execute(action, context));
        },
        upload: async (path, content, options?: UploadOptions) => {
          await beforeChange?.('upload');
          return when('upload', () => executor.upload(path, content, options));
        },
        download: (path, options) => when('other', () => executor.download(path, options)),
        openTerminal: (options) => when('other', () => executor.openTerminal(options)),
        ...(connect !== undefined && {
          connect: (port: number) => when('other', () => connect.call(executor, port)),
        }),
        ...(capabilities !== undefined && {
          capabilities: () => when('other', () => capabilities.call(executor)),
        }),
        close: () => executor.close(),
      },
      ...(cell.pause !== undefined && {
        pause: () =>
          inTurn(async () => {
            await cell.pause?.();
            isPaused = true;
          }),
      }),
      ...(cell.resume !== undefined && {
        resume: () =>
          inTurn(async () => {
            await cell.resume?.();
            isPaused = false;
          }),
      }),
    },
    hold: (work, options = {}) => inTurn(() => stopped(work, options)),
  };
}

function paused(backend: string): WorkcellError {
  return new WorkcellError(
    'session-busy',
    `This ${backend} cell is paused, so nobody can read its files. Resume it first.`,
    { details: { backend } },
  );
}

function busy(backend: string): WorkcellError {
  return new WorkcellError(
    'session-busy',
    `A command runs in this ${backend} cell, which cannot be paused for a moment. Wait for the command, then try again.`,
    { details: { backend } },
  );
}

function runs(backend: string): WorkcellError {
  return new WorkcellError(
    'session-busy',
    'A command or a process runs in this cell, and you asked not to stop it for a moment. Wait for it, or leave out whileRunning.',
    { details: { backend } },
  );
}

function uploading(backend: string): WorkcellError {
  return new WorkcellError(
    'session-busy',
    `An upload to this ${backend} cell is under way. Wait for its end, then try again.`,
    { details: { backend } },
  );
}

function changesPath(kind: FieldKind): boolean {
  const name = typeof kind === 'object' && 'kind' in kind ? kind.kind : kind;
  return name === 'path-write' || name === 'path-remove';
}
