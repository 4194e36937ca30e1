/** The hooks that a project declares for agents, read from the cell and passed on as they are. */
import { readUntrustedJson } from '../../../base/untrusted-json.js';
import { type Executor, WorkcellError } from '../../../protocol/index.js';

/** Null when there is no usable file. */
export async function readHooks(executor: Executor, project: string): Promise<unknown> {
  try {
    const { content } = await executor.execute<'read'>({
      action: 'read',
      path: `${project}/.openhands/hooks.json`,
      encoding: 'utf8',
      maxBytes: 1024 * 1024,
    });
    const hooks = readUntrustedJson(content);
    return typeof hooks === 'object' && !Array.isArray(hooks) ? hooks : null;
  } catch (error) {
    if (WorkcellError.isInstance(error)) return null;
    throw error;
  }
}
