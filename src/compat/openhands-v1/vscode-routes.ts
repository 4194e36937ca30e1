/** The editor of the cell, for clients that ask where it is. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { WorkcellError } from '../../protocol/index.js';
import type { RuntimeVscode } from '../../runtime/verbs/vscode-verbs.js';
import { failureText } from '../failure-messages.js';
import { Refusal } from './detail-errors.js';
import type { FacadeContext } from './facade-context.js';
import { words } from './openhands-v1-messages.js';

/** What the routes need of it. */
export type Editor = Pick<RuntimeVscode, 'url' | 'status'>;

const disabled = words('vscode.disabled');

const query = z.object({
  /** Replaces the editor's address on this machine, for clients behind a proxy. */
  base_url: z.string().optional(),
  workspace_dir: z.string().optional(),
});

export function vscodeRoutes(
  app: FastifyInstance,
  { executor, say }: Pick<FacadeContext, 'executor' | 'say'>,
  given: Editor | undefined,
): void {
  const editorOf = () => (Object.hasOwn(executor().actions, 'open_vscode') ? given : undefined);

  app.get('/api/vscode/url', async (request) => {
    const editor = editorOf();
    if (editor === undefined) throw new Refusal(503, disabled);
    const { base_url: base, workspace_dir: folder } = query.parse(request.query);
    if (base && !URL.canParse(base)) throw new Refusal(422, words('vscode.bad_address', { address: base }));
    const found = new URL(await editor.url().catch(refuse));
    const url = base ? new URL(`${base.replace(/\/+$/, '')}/${found.search}`) : found;
    // The original's default is a relative name, which means the workspace.
    if (folder?.startsWith('/')) url.searchParams.set('folder', folder);
    return { url: url.href };
  });

  app.get('/api/vscode/status', async () => {
    const editor = editorOf();
    if (editor === undefined) return { running: false, enabled: false, message: say(disabled) };
    try {
      return { running: (await editor.status()).running, enabled: true };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { running: false, enabled: false, message: say(failureText(error)) };
    }
  });
}

function refuse(error: unknown): never {
  throw isUnavailable(error) ? new Refusal(503, failureText(error)) : error;
}

function isUnavailable(error: unknown): error is WorkcellError {
  return WorkcellError.isInstance(error) && error.code === 'plugin-unavailable';
}
