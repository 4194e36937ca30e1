/** Chromium in the cell: pages to look at and to work with. */
import { definePlugin } from '../plugin.js';
import { browserActions } from './browser-actions.js';
import { optionsSchema } from './browser-options.js';
import { findChromium } from './find-chromium.js';

export default definePlugin({
  name: 'browser',
  version: '1.0.0',
  summary: 'Opens pages in a Chromium inside the cell and works with them.',
  actions: browserActions,
  requirements: [
    {
      name: 'Chromium',
      check: ['sh', '-c', findChromium],
      install: 'apt-get install chromium (Debian), or name another program in the option "program".',
    },
  ],
  async initialize(cell, options) {
    const { BrowserSession } = await import('./browser-session.js');
    const session = new BrowserSession(cell, optionsSchema.parse(options ?? {}));
    return {
      handlers: {
        browse: (action, { signal }) => session.browse(action, signal),
        browse_interactive: (action, { signal }) => session.interact(action, signal),
        open_cdp: ({ tokenHash }) => session.openCdp(tokenHash),
      },
      dispose: () => session.close(),
    };
  },
});
