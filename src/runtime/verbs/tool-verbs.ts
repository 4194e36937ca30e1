import type { Observation } from '../../protocol/index.js';
import type { FunctionTool, ToolContext } from '../tools/function-tool.js';
import { type AddOptions, type ToolCalls, ToolRegistry } from '../tools/registry.js';
import type { ToldInside } from '../tools/tools-from.js';
import type { OwnRuntime, OwnVerbs } from '../verb-call.js';

export interface ToolVerbs {
  /**
   * Registers tools that then run in the cell. The first call ships them: from the entry point, a file or package with
   * an optional `#export`, or as source when their functions use nothing from outside.
   */
  add(
    tools: FunctionTool | readonly FunctionTool[],
    entrypoint?: string | URL | readonly (string | URL)[],
    options?: AddOptions,
  ): this;
  /**
   * The tools of an entry point, for `add`: a file, a package or a name in a Python module, with JSON behind it as
   * the argument for its toolkit. The cell imports Python modules and reports their tools.
   */
  findTools(
    entrypoint: string | URL | ToldInside,
    options?: Pick<AddOptions, 'arguments' | 'from'>,
  ): Promise<FunctionTool[]>;
  /** The registered tools, in order, for the agent; they run in the cell. */
  getTools(): FunctionTool[];
  /** Calls a registered tool by name; the answer also has its output. */
  callTool(name: string, input?: unknown, context?: Partial<ToolContext>): Promise<Observation<'call_tool'>>;
  /** Ends what tools keep in the cell, and what they started. They stay registered and start fresh. */
  reset(): Promise<void>;
}

const registries = new WeakMap<OwnRuntime, ToolRegistry>();

export const toolVerbs: OwnVerbs<ToolVerbs> = {
  add: (runtime) =>
    function (this: ToolVerbs, tools, entrypoint, options = {}) {
      registryOf(runtime).add(tools, entrypoint, options);
      return this;
    },
  findTools:
    (runtime) =>
    async (entrypoint, { arguments: given, from } = {}) => {
      const { isToldInside, toolsFrom } = await import('../tools/tools-from.js');
      const isRead = typeof entrypoint === 'object' && 'module' in entrypoint;
      const found = isRead ? entrypoint : await toolsFrom(String(entrypoint), given, from);
      if (!isToldInside(found)) return [...found];
      const { toldTools } = await import('../tools/python/told-tools.js');
      return toldTools(found, callsOf(runtime).install);
    },
  getTools: (runtime) => () => registryOf(runtime).list(),
  callTool:
    (runtime) =>
    (name, input = {}, context) =>
      registryOf(runtime).call(name, input, context),
  reset: (runtime) => async () => void (await runtime.execute({ action: 'reset_tools' })),
};

/** The verbs of one runtime share it. */
function registryOf(runtime: OwnRuntime): ToolRegistry {
  const known = registries.get(runtime);
  if (known !== undefined) return known;
  const registry = new ToolRegistry(callsOf(runtime));
  registries.set(runtime, registry);
  return registry;
}

function callsOf(runtime: OwnRuntime): ToolCalls {
  return {
    install: (action) =>
      runtime.executeForOwner<'install_tools'>(action, {
        source: `${Buffer.byteLength(action.source)} bytes`,
      }),
    call: (action, context) => runtime.execute<'call_tool'>(action, context),
  };
}
