/** The skills that agents know from OpenHands, for every Python of the cell: `from agentskills import *`. */
import { definePlugin } from '../plugin.js';

export default definePlugin({
  name: 'agent-skills',
  version: '1.0.0',
  summary: 'Helpers in Python for code cells: look at files, search, edit, read documents.',
  actions: {},
  requirements: [
    {
      name: 'Python 3.8 or later',
      check: ['python3', '-c', 'import agentskills'],
      install: 'apt-get install python3, or your system’s package of Python 3.',
    },
  ],
  async environment(cell) {
    const { install } = await import('./install-skills.js');
    return { PYTHONPATH: await install(cell) };
  },
  initialize: async () => ({ handlers: {} }),
});
