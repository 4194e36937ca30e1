/** Carries out the actions of one server: one shell, one editor, one action at a time. */
import { posix } from 'node:path';
import { type Executor, WorkcellError } from '../../protocol/index.js';
import { type ActionEvent, type Arguments, parseActionEvent } from './actions.js';
import { BashSession } from './bash/bash-session.js';
import { runStatic } from './bash/static-run.js';
import { browseObservation, downloadObservation } from './browse.js';
import { Editor } from './editor/editor.js';
import { hasCode } from './files/path-kind.js';
import { readFile } from './files/read.js';
import { loadText } from './files/text-file.js';
import { writeFile } from './files/write.js';
import { binaryFileToken, disabled } from './messages.js';
import {
  cellObservation,
  editObservation,
  errorObservation,
  nullObservation,
  type ObservationEvent,
  readObservation,
  userRejectedObservation,
} from './observations.js';
import { perform } from './perform.js';

export interface ActionServerOptions {
  /** Absolute: where the shell starts and what relative paths of requests mean. */
  readonly workingDirectory: string;
  /** A command that prints nothing for so long is handed back, still running. Default: 10. */
  readonly noChangeSeconds?: number | undefined;
  /** Refuses an action by throwing, before it runs. `risk` is what the client says it is. */
  readonly judge?:
    | ((
        action: { readonly action: string; readonly [field: string]: unknown },
        risk: 'low' | 'medium' | 'high' | undefined,
      ) => Promise<void>)
    | undefined;
}

/** The one shell, which the kernel of code cells follows. */
export const shellSession = 'openhands';

/** Bytes that the editor takes; a longer file is its own to refuse. */
const editorBytes = 10 * 1024 * 1024;

export class ActionServer {
  readonly #executor: Executor;
  readonly #bash: BashSession;
  readonly #bashOptions: ConstructorParameters<typeof BashSession>[1];
  readonly #editor: Editor;
  readonly #judge: ActionServerOptions['judge'];

  constructor(executor: Executor, { workingDirectory, noChangeSeconds = 10, judge }: ActionServerOptions) {
    this.#judge = judge;
    this.#executor = executor;
    this.#bashOptions = { session: shellSession, workingDirectory, noChangeSeconds };
    this.#bash = new BashSession(executor, this.#bashOptions);
    this.#editor = new Editor(executor, workingDirectory);
  }

  /** Brings the shell up, so that a server without one never says that it is ready. */
  async start(): Promise<void> {
    await perform(this.#executor, { action: 'run', command: ':', session: this.#bashOptions.session });
  }

  /** Checks the action at once; the work begins when it is called. */
  prepare(value: unknown): () => Promise<ObservationEvent> {
    const event = parseActionEvent(value);
    return async () => {
      try {
        const { confirmation_state, is_confirmed, security_risk = -1 } = event.args;
        const state = confirmation_state ?? is_confirmed ?? 'confirmed';
        if (state === 'awaiting_confirmation') return nullObservation();
        if (state === 'rejected') return userRejectedObservation();
        const risk = (['low', 'medium', 'high'] as const)[security_risk];
        await this.#judge?.({ ...event.args, action: event.action }, risk);
        return await this.#execute(event);
      } catch (error) {
        if (!WorkcellError.isInstance(error)) throw error;
        return errorObservation(error.message);
      }
    };
  }

  async #execute({ action, args, timeout }: ActionEvent): Promise<ObservationEvent> {
    switch (action) {
      case 'run':
        return args.is_static
          ? runStatic(this.#executor, this.#bashOptions, { ...args, timeout })
          : this.#bash.run({ ...args, timeout });
      case 'read':
        return args.impl_source === 'oh_aci'
          ? this.#view(args.path, args.view_range)
          : readFile(this.#executor, this.#resolve(args.path), args, this.#bash.cwd);
      case 'write':
        return writeFile(this.#executor, this.#resolve(args.path), args, this.#bash.cwd);
      case 'edit':
        return this.#edit(args);
      case 'run_ipython':
        return this.#runCell(args, timeout);
      case 'browse':
        return this.#browse(args);
      case 'browse_interactive':
        return this.#interact(args);
    }
  }

  async #runCell(
    { code, include_extra }: Arguments<'run_ipython'>,
    timeout: number | undefined,
  ): Promise<ObservationEvent> {
    const timeoutMs = timeout === undefined ? undefined : Math.max(1, Math.ceil(timeout * 1000));
    const cell = { action: 'run_ipython', code, include_extra, timeoutMs } as const;
    return cellObservation(await perform(this.#executor, cell));
  }

  async #browse({ url, return_axtree }: Arguments<'browse'>): Promise<ObservationEvent> {
    if (!('browse' in this.#executor.actions)) return errorObservation(disabled.browser);
    const address = /^[a-z][a-z\d+.-]*:/i.test(url) ? url : this.#resolve(url);
    const page = await perform(this.#executor, { action: 'browse', url: address, marks: true });
    return downloadObservation(page) ?? browseObservation(page, 'browse', return_axtree);
  }

  async #interact({
    browser_actions: code,
    return_axtree,
  }: Arguments<'browse_interactive'>): Promise<ObservationEvent> {
    if (!('browse_interactive' in this.#executor.actions)) return errorObservation(disabled.browser);
    const page = await perform(this.#executor, { action: 'browse_interactive', code, marks: true });
    return downloadObservation(page) ?? browseObservation(page, 'browse_interactive', return_axtree);
  }

  async #edit(args: Arguments<'edit'>): Promise<ObservationEvent> {
    if (args.impl_source !== 'oh_aci') return errorObservation(disabled.llmEdit);
    const { content, diff } = await this.#editor.execute(args);
    return editObservation({ path: args.path, content, oldText: args.old_str, newText: args.new_str, diff });
  }

  async #view(path: string, range: unknown): Promise<ObservationEvent> {
    if (await this.#isBinary(this.#resolve(path))) return errorObservation(binaryFileToken);
    const { content } = await this.#editor.execute({
      path,
      command: 'view',
      view_range: range,
      file_text: null,
      old_str: null,
      new_str: null,
      insert_line: null,
    });
    return readObservation(path, content, 'oh_aci');
  }

  async #isBinary(path: string): Promise<boolean> {
    try {
      return (await loadText(this.#executor, path, editorBytes)) === undefined;
    } catch (error) {
      if (hasCode(error, 'internal', 'runtime-closed', 'runtime-disconnected')) throw error;
      return false;
    }
  }

  #resolve(path: string): string {
    return posix.resolve(this.#bash.cwd, path);
  }
}
