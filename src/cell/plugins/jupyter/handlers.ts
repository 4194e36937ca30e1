/** Carries out the code cells of one cell. */
import { type Action, type ExecuteContext, WorkcellError } from '../../../protocol/index.js';
import type { PluginCell, PluginInstance } from '../plugin.js';
import { textOf } from './code-output-text.js';
import { Contexts, type ContextsOptions } from './contexts.js';
import { toIpython } from './ipython.js';
import type { CodeOutput, jupyterActions } from './jupyter-actions.js';
import { noticeText } from './notices.js';
import { Outputs } from './outputs.js';
import { saveMedia } from './save-media.js';

export function createHandlers(
  cell: PluginCell,
  options: ContextsOptions,
): PluginInstance<typeof jupyterActions> & { contexts: Contexts } {
  const contexts = new Contexts(cell, options);

  async function run(action: Action<'run_code'>, context: ExecuteContext) {
    const started = performance.now();
    const budget = { textBytes: action.maxOutputBytes, mediaBytes: action.maxMediaBytes };
    const place = await contexts.open(action.language, action.context);
    const outputs = new Outputs(budget, () => cell.openOutput());
    const { notices, ...ended } = await place.run(action, outputs, context);
    const shown: CodeOutput[] = outputs.list();
    if (action.saveMedia !== undefined) await saveMedia(cell, action.saveMedia, shown);
    return {
      text: textOf(shown),
      outputs: shown,
      notices,
      ...ended,
      language: place.language,
      context: place.name,
      durationMs: performance.now() - started,
      truncated: outputs.truncated,
      outputId: outputs.keptId,
    };
  }

  return {
    contexts,
    handlers: {
      async run_code(action, context) {
        const { notices, ...ran } = await run(action, context);
        return { ...ran, notice: notices.length === 0 ? undefined : notices.map(noticeText).join(' ') };
      },
      run_ipython: (action, context) =>
        toIpython(action, context, run, async () => ({
          cwd: (await contexts.surroundings()).cwd ?? cell.workspace,
          interpreter: (await (await contexts.find('python', 'default'))?.interpreter()) ?? '',
        })),
      async list_contexts() {
        return {
          contexts: contexts.list().map((entry) => ({
            context: entry.name,
            language: entry.language,
            kernel: entry.kernelName,
            state: entry.state,
            pid: entry.pid,
            waiting: entry.waiting,
          })),
          spare: contexts.spare,
          kernels: (await contexts.specs()).map(({ name, language, displayName }) => ({
            name,
            language,
            displayName,
          })),
        };
      },
      async control_context({ operation, language, context: name }) {
        const context = await contexts.find(language, name);
        if (context === undefined) {
          throw new WorkcellError(
            'session-not-found',
            `There is no context "${name}" for ${language}. The first code cell of a context makes it; list_contexts shows all.`,
            { details: { context: name, language } },
          );
        }
        if (operation === 'interrupt') context.interrupt();
        else await context.end();
        if (operation === 'close') contexts.forget(context);
        return { context: name, language: context.language };
      },
    },
    dispose: () => contexts.close(),
  };
}
