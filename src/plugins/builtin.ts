import type { Plugin } from './plugin.js';

/** The plugins of this package, loaded when they are asked for. */
export const builtinPlugins: Readonly<Record<string, () => Promise<{ default: Plugin }>>> = {
  mcp: () => import('./mcp/index.js'),
};
