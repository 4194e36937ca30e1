import { type Executor, WorkcellError } from '../../protocol/index.js';
import { RuntimePorts } from '../../runtime/runtime-ports.js';
import { callOf, portsOf } from '../../runtime/verb-call.js';
import { RuntimeVscode } from '../../runtime/verbs/vscode-verbs.js';

/** Starts the editor and returns its token; null where there is none. Clients know the port already. */
export function createEditorToken(executor: Executor): () => Promise<string | null> {
  const editor = new RuntimeVscode({ ...callOf(executor), ports: new RuntimePorts(portsOf(executor)) });
  return async () => {
    if (!Object.hasOwn(executor.actions, 'open_vscode')) return null;
    try {
      return new URL(await editor.url()).searchParams.get('tkn');
    } catch (error) {
      if (WorkcellError.isInstance(error) && error.code === 'plugin-unavailable') return null;
      throw error;
    }
  };
}
