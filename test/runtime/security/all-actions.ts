/** Every action there is: of the core, of the verbs of a runtime, and of the plugins of this package. */
import { builtinPlugins } from '../../../src/cell/plugins/builtin.js';
import { type ActionDefinition, actions, verbs } from '../../../src/protocol/index.js';

const plugins = await Promise.all(Object.values(builtinPlugins).map(async (load) => (await load()).default));

export const allActions: Readonly<Record<string, ActionDefinition>> = Object.assign(
  {},
  actions,
  verbs,
  ...plugins.map((plugin) => plugin.actions),
);
