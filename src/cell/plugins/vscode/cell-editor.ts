/** The editor of one cell: starts on first use, and again on the next use after it ended. */
import { WorkcellError } from '../../../protocol/index.js';
import { OwnerTokens } from '../owner-tokens.js';
import type { PluginCell, PluginInstance } from '../plugin.js';
import { thisProcess } from '../this-process.js';
import { type Editor, startEditor } from './code-server.js';
import { EditorProxy } from './editor-proxy.js';
import type { vscodeActions } from './vscode-actions.js';
import type { VscodeOptions } from './vscode-options.js';

interface Running {
  readonly editor: Editor;
  readonly proxy: EditorProxy;
}

export function createVscode(
  cell: PluginCell,
  options: VscodeOptions,
): PluginInstance<typeof vscodeActions> & { dispose(): Promise<void> } {
  const tokens = new OwnerTokens();
  let running: Promise<Running> | undefined;

  async function start(): Promise<Running> {
    const editor = await startEditor(cell, options);
    try {
      const { host, port } = options;
      const proxy = await EditorProxy.open({ host, port, tokens, connect: editor.connect });
      void editor.ended.then(() => {
        proxy.close();
        running = undefined;
      });
      return { editor, proxy };
    } catch (cause) {
      await editor.close();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new WorkcellError('plugin-unavailable', `Browsers cannot reach the editor: ${reason}.`, {
        details: { plugin: 'vscode' },
        cause,
      });
    }
  }

  async function stop(): Promise<boolean> {
    const ending = await running?.catch(() => undefined);
    await ending?.editor.close();
    return ending !== undefined;
  }

  return {
    handlers: {
      async open_vscode({ tokenHash }) {
        running ??= start().catch((error: unknown) => {
          running = undefined;
          throw error;
        });
        const { proxy } = await running;
        tokens.add(tokenHash);
        return { port: proxy.port, folder: cell.workspace, process: thisProcess };
      },
      async vscode_status() {
        return { running: (await running?.catch(() => undefined)) !== undefined };
      },
      async stop_vscode() {
        return { wasRunning: await stop() };
      },
    },
    async dispose() {
      await stop();
    },
  };
}
