/** The model of `[openhands.llm_editor]`, with its key, which no answer shows. */
import type { DraftModel } from '../compat/openhands-v0/editor/draft.js';

export async function draftModelOf(
  file: string | false | undefined,
): Promise<{ model: DraftModel; secrets: Record<string, { value: string }> } | undefined> {
  const { loadConfig } = await import('../config/load-config.js');
  const config = await loadConfig({ cwd: process.cwd(), env: process.env, file });
  const { llm_editor: given } = config.values.openhands;
  if (given === undefined) return undefined;
  const { checkCommand } = await import('../config/named-code.js');
  const { readSecret } = await import('../config/secret-source.js');
  const { base_url: baseUrl, model, api_key: reference, timeout } = given;
  const place = 'openhands.llm_editor.api_key';
  checkCommand(config, { key: 'openhands.llm_editor', place, command: reference?.command });
  const apiKey = reference && (await readSecret(place, reference));
  return {
    model: { baseUrl, model, apiKey, timeoutMs: timeout === undefined ? undefined : timeout * 1000 },
    secrets: apiKey === undefined ? {} : { WORKCELL_EDITOR_KEY: { value: apiKey } },
  };
}
