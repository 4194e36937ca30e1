/** What plugins add to a Runtime: the verbs of this package in one table, and those that other plugins bring. */
// For the types of the actions that these verbs are made of.
import '../../cell/plugins/builtin.js';
import type { LoadedPlugin } from '../../cell/plugins/load-plugins.js';
import { WorkcellError } from '../../protocol/index.js';
import type { OwnRuntime } from '../verb-call.js';
import { type BrowserVerbs, browserVerbs } from './browser-verbs.js';
import { type JupyterVerbs, jupyterVerbs } from './jupyter-verbs.js';
import { type McpVerbs, mcpVerbs } from './mcp-verbs.js';
import { type PythonVerbs, pythonVerbs } from './python-verbs.js';
import { type ToolVerbs, toolVerbs } from './tool-verbs.js';
import { type VscodeVerbs, vscodeVerbs } from './vscode-verbs.js';

export type { RuntimeVerbs } from '../../protocol/index.js';

interface BuiltinVerbs extends BrowserVerbs, JupyterVerbs, McpVerbs, PythonVerbs, ToolVerbs, VscodeVerbs {}

declare module '../../protocol/runtime-verbs.js' {
  interface RuntimeVerbs extends BuiltinVerbs {}
}

/** A Runtime has them whatever its plugins are: an action that its cell does not know fails with what it knows. */
const builtinVerbs = {
  ...browserVerbs,
  ...jupyterVerbs,
  ...mcpVerbs,
  ...pythonVerbs,
  ...toolVerbs,
  ...vscodeVerbs,
} satisfies Record<keyof BuiltinVerbs, MakeVerb>;

type MakeVerb = (runtime: OwnRuntime) => unknown;

/** Gives a Runtime the verbs of this package and of its plugins. Each is made when it is first used. */
export function addVerbs(target: object, runtime: OwnRuntime, plugins: readonly LoadedPlugin[]): void {
  for (const [name, make] of Object.entries<MakeVerb>(builtinVerbs))
    addVerb(target, name, () => make(runtime));
  for (const { plugin } of plugins) {
    for (const [name, make] of Object.entries<MakeVerb>(plugin.verbs ?? {})) {
      if (name in target) throw taken(plugin.name, name);
      addVerb(target, name, () => make(runtime));
    }
  }
}

function addVerb(target: object, name: string, make: () => unknown): void {
  Object.defineProperty(target, name, {
    configurable: true,
    get() {
      const value = make();
      Object.defineProperty(target, name, { value, configurable: true });
      return value;
    },
  });
}

function taken(plugin: string, verb: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `Plugin "${plugin}" brings a verb "${verb}", which a runtime has already. Leave the other plugin out, or rename the verb.`,
    { details: { plugin, verb } },
  );
}
