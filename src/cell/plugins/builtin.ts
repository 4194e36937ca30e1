import type { browserActions } from './browser/browser-actions.js';
import type { jupyterActions } from './jupyter/jupyter-actions.js';
import type { mcpActions } from './mcp/mcp-actions.js';
import type { Plugin } from './plugin.js';
import type { toolActions } from './tools/index.js';
import type { vscodeActions } from './vscode/vscode-actions.js';

type BuiltinActions = typeof browserActions &
  typeof jupyterActions &
  typeof mcpActions &
  typeof toolActions &
  typeof vscodeActions;

declare module '../../protocol/action.js' {
  interface PluginActions extends BuiltinActions {}
}

/** The plugins of this package, loaded on demand. */
export const builtinPlugins: Readonly<Record<string, () => Promise<{ default: Plugin }>>> = {
  'agent-skills': () => import('./agent-skills/index.js'),
  browser: () => import('./browser/index.js'),
  jupyter: () => import('./jupyter/index.js'),
  mcp: () => import('./mcp/index.js'),
  tools: () => import('./tools/index.js'),
  vscode: () => import('./vscode/index.js'),
};

/** Plugins that you get by default: they cost nothing until their first action. */
export const defaultPlugins = Object.keys(builtinPlugins).filter((name) => name !== 'agent-skills');
