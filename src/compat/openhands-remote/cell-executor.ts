/** The executor of a cell, whichever runtime the service works in it with now: it attaches anew when a connection breaks. */
import {
  type Action,
  type ActionName,
  type DownloadOptions,
  type ExecuteContext,
  type Executor,
  type TerminalOptions,
  type UploadOptions,
  WorkcellError,
} from '../../protocol/index.js';

export class CellExecutor implements Executor {
  #current: Executor | undefined;

  /** From the request that works in the cell. */
  set current(executor: Executor | undefined) {
    this.#current = executor;
  }

  get actions() {
    return this.#reached().actions;
  }

  execute<Name extends ActionName>(action: Action<Name>, context?: ExecuteContext) {
    return this.#reached().execute(action, context);
  }

  upload(path: string, content: AsyncIterable<Uint8Array>, options?: UploadOptions) {
    return this.#reached().upload(path, content, options);
  }

  download(path: string, options?: DownloadOptions) {
    return this.#reached().download(path, options);
  }

  openTerminal(options?: TerminalOptions) {
    return this.#reached().openTerminal(options);
  }

  async connect(port: number): Promise<NodeJS.ReadWriteStream> {
    const { connect } = this.#reached();
    if (connect !== undefined) return connect.call(this.#reached(), port);
    throw new WorkcellError('capability-unsupported', 'The ports of this cell cannot be reached.');
  }

  async capabilities() {
    return (await this.#reached().capabilities?.()) ?? [];
  }

  /** The service ends its cells. */
  async close(): Promise<void> {}

  #reached(): Executor {
    if (this.#current !== undefined) return this.#current;
    throw new WorkcellError('runtime-disconnected', 'The cell is not used now.');
  }
}
