/** What a plugin is written with: `workcell/plugins`. */
export { defineAction } from '../../protocol/index.js';
export type { KeptOutput, Plugin, PluginCell, PluginInstance, Requirement } from './plugin.js';
export { definePlugin } from './plugin.js';
