/** An executor whose cell can pause: actions wait meanwhile. */
import {
  type Action,
  type ActionName,
  type DownloadOptions,
  type ExecuteContext,
  type Executor,
  type TerminalOptions,
  type UploadOptions,
  WorkcellError,
} from '../protocol/index.js';

/** An executor with what pauses and resumes its cell. */
export interface Pausable {
  readonly executor: Executor;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** While it is paused: settles when it resumes. */
  halted(): Promise<void> | undefined;
}

/** `halt` stops what runs in the cell and returns the function that resumes it. */
export function pausable(executor: Executor, halt: () => Promise<() => unknown>): Pausable {
  let current: Pause | undefined;

  /** While the cell runs, there is nothing to wait for, and no cost. */
  function when<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return current === undefined ? work() : current.wait(signal).then(work);
  }
  const { connect, capabilities } = executor;
  return {
    executor: {
      actions: executor.actions,
      execute: <Name extends ActionName>(action: Action<Name>, context?: ExecuteContext) =>
        when(context?.signal, () => executor.execute(action, context)),
      upload: (path, content, options?: UploadOptions) =>
        when(options?.signal, () => executor.upload(path, content, options)),
      download: (path, options?: DownloadOptions) =>
        when(options?.signal, () => executor.download(path, options)),
      openTerminal: (options?: TerminalOptions) => when(undefined, () => executor.openTerminal(options)),
      ...(connect !== undefined && {
        connect: (port: number) => when(undefined, () => connect.call(executor, port)),
      }),
      ...(capabilities !== undefined && {
        capabilities: () => when(undefined, () => capabilities.call(executor)),
      }),
      close: () => executor.close(),
    },
    halted: () => current?.over,
    async pause() {
      if (current !== undefined) return current.halted;
      const pause = new Pause(halt());
      current = pause;
      await pause.halted.catch((error: unknown) => {
        current = undefined;
        pause.end();
        throw error;
      });
    },
    async resume() {
      const pause = current;
      if (pause === undefined) return;
      await pause.goOn();
      current = undefined;
      pause.end();
    },
  };
}

class Pause {
  readonly halted: Promise<void>;
  readonly over: Promise<void>;
  end = (): void => {};
  readonly #undo: Promise<() => unknown>;

  constructor(undo: Promise<() => unknown>) {
    this.#undo = undo;
    this.halted = undo.then(() => {});
    this.over = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  async goOn(): Promise<void> {
    await (await this.#undo)();
  }

  /** Settles when the cell resumes. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    if (signal === undefined) return this.over;
    return new Promise((resolve, reject) => {
      const onAbort = () =>
        reject(new WorkcellError('cancelled', 'It was cancelled while the cell was paused.'));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      void this.over.then(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }
}
