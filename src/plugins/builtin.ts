import type { Plugin } from './plugin.js';

/** The plugins of this package, loaded when they are asked for. */
export const builtinPlugins: Readonly<Record<string, () => Promise<{ default: Plugin }>>> = {
  browser: () => import('./browser/index.js'),
  jupyter: () => import('./jupyter/index.js'),
  mcp: () => import('./mcp/index.js'),
  tools: () => import('./tools/index.js'),
};
