/** Code cells: any kernel that speaks the Jupyter protocol, inside the cell, over sockets. */
import * as z from 'zod';
import { defaultSession } from '../../../protocol/index.js';
import { definePlugin } from '../plugin.js';
import { jupyterActions } from './jupyter-actions.js';
import { installIpykernel, kernelCheck } from './kernel-specs.js';

const optionsSchema = z
  .strictObject({
    /** How many kernels to start in advance, from the start of the cell on. */
    spare: z.int().min(0).max(16).default(0),
    /** The language of the waiting kernels and of `startup`. */
    language: z.string().default('python'),
    /** Code that every kernel of that language runs before its first code cell. */
    startup: z.string().default(''),
    /** The shell session whose working directory kernels follow. */
    session: z.string().default(defaultSession),
  })
  .prefault({});

export default definePlugin({
  name: 'jupyter',
  version: '1.0.0',
  summary:
    'Runs code cells in kernels that keep their state: Python, and every language with a Jupyter kernel.',
  actions: jupyterActions,
  requirements: [{ name: 'a Jupyter kernel', check: kernelCheck, install: installIpykernel }],
  early: (options) => optionsSchema.safeParse(options).data?.spare !== 0,
  async initialize(cell, given) {
    const options = optionsSchema.parse(given);
    const { createHandlers } = await import('./handlers.js');
    const { contexts, ...instance } = createHandlers(cell, options);
    if ((await contexts.installed()).length === 0) throw new Error(installIpykernel);
    if (options.spare > 0) await contexts.warm(options.language);
    return instance;
  },
});
