import { scripted } from './ai-model.mjs';

const name = 'mastra_workspace_execute_command';
const commands = ['node sum.test.mjs', "sed -i 's/a - b/a + b/' sum.mjs", 'node sum.test.mjs'];
export const model = scripted(commands.map((command) => ({ name, args: { command } })));
