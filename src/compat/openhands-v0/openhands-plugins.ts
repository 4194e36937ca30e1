import type { PluginSpec } from '../../protocol/plugin-spec.js';
import { shellSession } from './action-server.js';

export interface OpenHandsExtras {
  /** `false` leaves the browser out. */
  readonly browser?: boolean | undefined;
  /** `true` puts the agent skills into the namespace of code cells. */
  readonly agentSkills?: boolean | undefined;
  /** Where browsers reach the editor; without it there is no editor. */
  readonly vscodePort?: number | undefined;
}

/** What the cell of a server has besides the actions of every executor. */
export function openHandsPlugins({
  browser = true,
  agentSkills = false,
  vscodePort,
  host = '127.0.0.1',
}: OpenHandsExtras & { readonly host?: string | undefined } = {}): PluginSpec[] {
  const startup = agentSkills ? 'from agentskills import *' : '';
  return [
    ...(browser ? ['browser'] : []),
    ...(agentSkills ? ['agent-skills'] : []),
    ...(vscodePort === undefined ? [] : [{ name: 'vscode', options: { host, port: vscodePort } }]),
    'mcp',
    { name: 'jupyter', options: { session: shellSession, startup } },
  ];
}
