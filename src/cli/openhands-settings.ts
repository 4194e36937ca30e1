/** The section `[openhands]`: whether edits are checked, and the model for drafts with its key, which no answer shows. */
import type { DraftModel } from '../compat/openhands-v0/editor/draft.js';

export async function editorSettings(file: string | false | undefined): Promise<{
  lints: boolean;
  draftModel?: DraftModel;
  secrets?: Record<string, { value: string }>;
}> {
  const { loadConfig } = await import('../config/load-config.js');
  const config = await loadConfig({ cwd: process.cwd(), env: process.env, file });
  const { llm_editor: given, auto_lint: lints } = config.values.openhands;
  if (given === undefined) return { lints };
  const { checkCommand } = await import('../config/named-code.js');
  const { readSecret } = await import('../config/secret-source.js');
  const { base_url: baseUrl, model, api_key: reference, timeout } = given;
  const place = 'openhands.llm_editor.api_key';
  checkCommand(config, { key: 'openhands.llm_editor', place, command: reference?.command });
  const apiKey = reference && (await readSecret(place, reference));
  return {
    lints,
    draftModel: { baseUrl, model, apiKey, timeoutMs: timeout === undefined ? undefined : timeout * 1000 },
    ...(apiKey !== undefined && { secrets: { WORKCELL_EDITOR_KEY: { value: apiKey } } }),
  };
}
