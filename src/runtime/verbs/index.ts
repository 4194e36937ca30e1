/** What plugins add to a Runtime: the verbs of this package in one table, and those that other plugins bring. */
// For the types of the actions behind these verbs.
import '../../cell/plugins/builtin.js';
import type { LoadedPlugin } from '../../cell/plugins/load-plugins.js';
import type { PluginRuntime } from '../../cell/plugins/plugin.js';
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

/**
 * Every Runtime has them, whatever its plugins are: an unknown action of its cell fails with the list of known ones.
 */
const builtinVerbs = {
  ...browserVerbs,
  ...jupyterVerbs,
  ...mcpVerbs,
  ...pythonVerbs,
  ...toolVerbs,
  ...vscodeVerbs,
} satisfies Record<keyof BuiltinVerbs, MakeVerb>;

type MakeVerb = (runtime: OwnRuntime) => unknown;

/** Adds the verbs of this package to every Runtime. `runtimeOf`: returns what one of them builds its verbs from. */
export function addBuiltinVerbs<Target extends object>(
  prototype: Target,
  runtimeOf: (target: Target) => OwnRuntime,
): void {
  for (const [name, make] of Object.entries<MakeVerb>(builtinVerbs))
    addVerb(prototype, name, (target) => make(runtimeOf(target)));
}

/** Adds the verbs of its plugins to one Runtime. */
export function addPluginVerbs(
  target: object,
  runtime: PluginRuntime,
  plugins: readonly LoadedPlugin[],
): void {
  for (const { plugin } of plugins) {
    for (const [name, make] of Object.entries<(runtime: PluginRuntime) => unknown>(plugin.verbs ?? {})) {
      if (name in target) throw taken(plugin.name, name);
      addVerb(target, name, () => make(judgedOnly(runtime)));
    }
  }
}

/** A separate object with the members of the type and no more: types do not bind plugins. */
function judgedOnly(runtime: PluginRuntime): PluginRuntime {
  const { workspace, execute, upload, download, openTerminal, ports } = runtime;
  return {
    workspace,
    execute: (action, context) => execute(action, context),
    upload: (path, content, options) => upload(path, content, options),
    download: (path, options) => download(path, options),
    openTerminal: (options) => openTerminal(options),
    ports: { forward: (port) => ports.forward(port) },
  };
}

/** A runtime creates each on first use. */
function addVerb<Target extends object>(
  target: Target,
  name: string,
  make: (target: Target) => unknown,
): void {
  Object.defineProperty(target, name, {
    configurable: true,
    get(this: Target) {
      const value = make(this);
      Object.defineProperty(this, name, { value, configurable: true });
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
