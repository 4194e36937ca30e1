/** Where a loaded tool comes from, so that the runtime can ship it without an entry point. */
import type { ActionInput } from '../../protocol/index.js';
import type { FunctionTool } from './function-tool.js';

/** What becomes a module in the cell. */
export type Module = Pick<ActionInput<'install_tools'>, 'language' | 'source' | 'name' | 'arguments'>;

export interface Origin {
  source(): Promise<Module>;
}

/** One for the process: the bundled command line and a module of yours each have their own copy of this one. */
const name = Symbol.for('workcell.tool-origins');
const shared = globalThis as { [name]?: WeakMap<FunctionTool, Origin> };
shared[name] ??= new WeakMap();
const origins = shared[name];

export function setOrigin(tool: FunctionTool, origin: Origin): void {
  origins.set(tool, origin);
}

export function originOf(tool: FunctionTool): Origin | undefined {
  return origins.get(tool);
}

export function isOrigin(value: object | string): value is Origin {
  return typeof value === 'object' && 'source' in value;
}
