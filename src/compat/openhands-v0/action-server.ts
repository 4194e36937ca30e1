/** Carries out the actions of one server: one shell, one editor, one action at a time. */
import { posix } from 'node:path';
import { type ExecuteContext, type Executor, WorkcellError } from '../../protocol/index.js';
import { failureText } from '../failure-messages.js';
import { BashSession } from './bash/bash-session.js';
import { readStartupFile } from './bash/shell-prompt.js';
import { runStatic } from './bash/static-run.js';
import { browseObservation, downloadObservation } from './browse-observation.js';
import { cellText } from './cell-text.js';
import { applyDraft, type DraftModel } from './editor/draft.js';
import { Editor } from './editor/editor.js';
import { History } from './editor/history.js';
import { hasCode } from './files/path-kind.js';
import { readFile } from './files/read.js';
import { loadText } from './files/text-file.js';
import { writeFile } from './files/write.js';
import {
  cellObservation,
  editObservation,
  errorObservation,
  nullObservation,
  type ObservationEvent,
  readObservation,
  userRejectedObservation,
} from './observations.js';
import { words } from './openhands-words.js';
import { type ActionEvent, type Arguments, parseActionEvent } from './parse-action-event.js';
import { perform, stating } from './perform-action.js';

export interface ActionServerOptions {
  /** Absolute: where the shell starts and what relative paths of requests mean. */
  readonly workingDirectory: string;
  /** Hands back a command, still running, when it prints nothing for this long. Default: 10. */
  readonly noChangeSeconds?: number | undefined;
  /** Applies drafts. Without it they are refused. */
  readonly draftModel?: DraftModel | undefined;
  /** Tells the mistakes of form that an edit brings. */
  readonly lints?: boolean | undefined;
}

/** The one shell, which the kernel of code cells follows. */
export const shellSession = 'openhands';

/** Bytes that we read for the editor, which refuses a longer file itself. */
const editorBytes = 10 * 1024 * 1024;

export class ActionServer {
  readonly #executor: Executor;
  readonly #bash: BashSession;
  readonly #bashOptions: ConstructorParameters<typeof BashSession>[1];
  readonly #history = new History();
  readonly #draftModel: DraftModel | undefined;
  readonly #lints: boolean;

  constructor(executor: Executor, options: ActionServerOptions) {
    const { workingDirectory, noChangeSeconds = 10, draftModel, lints = false } = options;
    this.#executor = executor;
    this.#draftModel = draftModel;
    this.#lints = lints;
    this.#bashOptions = { session: shellSession, workingDirectory, noChangeSeconds };
    this.#bash = new BashSession(executor, this.#bashOptions);
  }

  /** Starts the shell, so that a server without one never reports that it is ready. */
  async start(): Promise<void> {
    await readStartupFile(this.#executor, this.#bashOptions.session);
  }

  /** Checks the action at once; calling the result begins the work. */
  prepare(value: unknown): () => Promise<ObservationEvent> {
    const event = parseActionEvent(value);
    return async () => {
      try {
        const { confirmation_state, is_confirmed, security_risk = -1 } = event.args;
        const state = confirmation_state ?? is_confirmed ?? 'confirmed';
        if (state === 'awaiting_confirmation') return nullObservation();
        if (state === 'rejected') return userRejectedObservation();
        return await this.#execute(event, (['low', 'medium', 'high'] as const)[security_risk]);
      } catch (error) {
        if (!WorkcellError.isInstance(error)) throw error;
        return errorObservation(failureText(error));
      }
    };
  }

  async #execute(
    { action, args, timeout }: ActionEvent,
    statedRisk: ExecuteContext['statedRisk'],
  ): Promise<ObservationEvent> {
    const executor = stating(this.#executor, statedRisk);
    switch (action) {
      case 'run':
        return args.is_static
          ? runStatic(this.#executor, this.#bashOptions, { ...args, timeout, statedRisk })
          : this.#bash.run({ ...args, timeout, statedRisk });
      case 'read':
        return args.impl_source === 'oh_aci'
          ? this.#view(executor, args.path, args.view_range)
          : readFile(executor, this.#resolve(args.path), args, this.#bash.cwd);
      case 'write':
        return writeFile(executor, this.#resolve(args.path), args, this.#bash.cwd);
      case 'edit':
        return this.#edit(executor, args);
      case 'run_ipython':
        return runCell(executor, args, timeout);
      case 'browse':
        return this.#browse(executor, args);
      case 'browse_interactive':
        return interact(executor, args);
    }
  }

  async #browse(executor: Executor, { url, return_axtree }: Arguments<'browse'>): Promise<ObservationEvent> {
    if (!('browse' in executor.actions)) return errorObservation(words('action.no_browser'));
    const address = /^[a-z][a-z\d+.-]*:/i.test(url) ? url : this.#resolve(url);
    const page = await perform(executor, { action: 'browse', url: address, marks: true });
    return downloadObservation(page) ?? browseObservation(page, 'browse', return_axtree);
  }

  async #edit(executor: Executor, args: Arguments<'edit'>): Promise<ObservationEvent> {
    if (args.impl_source === 'llm_based_edit') {
      if (this.#draftModel === undefined) return errorObservation(words('action.llm_edit'));
      const draft = { ...args, path: this.#resolve(args.path), lints: this.#lints };
      return applyDraft(executor, this.#draftModel, draft, this.#bash.cwd);
    }
    const { content, diff } = await this.#editor(executor).execute(args);
    return editObservation({ path: args.path, content, oldText: args.old_str, newText: args.new_str, diff });
  }

  async #view(executor: Executor, path: string, range: unknown): Promise<ObservationEvent> {
    if (await isBinary(executor, this.#resolve(path))) return errorObservation(words('read.binary'));
    const { content } = await this.#editor(executor).execute({
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

  #editor(executor: Executor): Editor {
    const { workingDirectory } = this.#bashOptions;
    return new Editor(executor, { workingDirectory, lints: this.#lints }, this.#history);
  }

  #resolve(path: string): string {
    return posix.resolve(this.#bash.cwd, path);
  }
}

async function runCell(
  executor: Executor,
  { code, include_extra }: Arguments<'run_ipython'>,
  timeout: number | undefined,
): Promise<ObservationEvent> {
  const timeoutMs = timeout === undefined ? undefined : Math.max(1, Math.ceil(timeout * 1000));
  const cell = { action: 'run_ipython', code, include_extra, timeoutMs, parts: true } as const;
  const { parts, ...ran } = await perform(executor, cell);
  return cellObservation({ ...ran, content: parts === undefined ? ran.content : cellText(parts) });
}

/** What a client asks of a browser with a task of BrowserGym. */
const evaluation: ReadonlySet<string> = new Set(['GET_EVAL_GOAL', 'GET_EVAL_REWARDS']);

async function interact(
  executor: Executor,
  { browser_actions: code, return_axtree }: Arguments<'browse_interactive'>,
): Promise<ObservationEvent> {
  if (evaluation.has(code.trim())) return errorObservation(words('action.no_eval_task'));
  if (!('browse_interactive' in executor.actions)) return errorObservation(words('action.no_browser'));
  const page = await perform(executor, { action: 'browse_interactive', code, marks: true });
  return downloadObservation(page) ?? browseObservation(page, 'browse_interactive', return_axtree);
}

async function isBinary(executor: Executor, path: string): Promise<boolean> {
  try {
    return (await loadText(executor, path, editorBytes)) === undefined;
  } catch (error) {
    if (hasCode(error, 'internal', 'runtime-closed', 'runtime-disconnected')) throw error;
    return false;
  }
}
