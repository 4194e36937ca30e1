/** What you write a plugin with: `workcell/plugins`. */
export type { ActionDefinition, Offered, PluginActions } from '../../protocol/action.js';
export { defineAction } from '../../protocol/action.js';
export { WorkcellError } from '../../protocol/errors.js';
export type { RuntimeVerbs } from '../../protocol/runtime-verbs.js';
export type {
  KeptOutput,
  Plugin,
  PluginCell,
  PluginInstance,
  PluginPort,
  PluginRuntime,
  Requirement,
  Verbs,
} from './plugin.js';
export { definePlugin } from './plugin.js';
