/** VS Code in the browser, running inside the cell. */
import { definePlugin } from '../plugin.js';
import { succeeds } from '../requirements.js';
import { vscodeActions } from './vscode-actions.js';
import { optionsSchema, type VscodeOptions } from './vscode-options.js';

export default definePlugin({
  name: 'vscode',
  version: '1.0.0',
  summary: 'Opens the workspace in a VS Code that runs in the cell and shows in a browser.',
  actions: vscodeActions,
  requirements: (options) => [
    {
      name: 'code-server',
      check: findEditor(optionsSchema.parse(options)),
      install:
        'take a package of its releases (https://github.com/coder/code-server), or npm install -g code-server with Node 24, or name a program in the option "program".',
    },
  ],
  async initialize(cell, given) {
    const options = optionsSchema.parse(given);
    if (!(await succeeds(cell, findEditor(options)))) throw new Error(`There is no ${options.program}.`);
    const { createVscode } = await import('./cell-editor.js');
    return createVscode(cell, options);
  },
});

function findEditor({ program }: VscodeOptions): string[] {
  return ['sh', '-c', 'command -v "$0"', program];
}
