import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const html = `<!doctype html><title>Small</title><h1>A small page</h1>
<form onsubmit="event.preventDefault()"><label>Name <input></label><button>Send</button></form>
<ul>${Array.from({ length: 20 }, (_, item) => `<li><a href="/${item}">Item ${item}</a></li>`).join('')}</ul>`;

export default defineLine({
  name: 'browser',
  summary:
    'a small local page opened, and a click in it, each with screenshot and tree; floor: playwright-core doing the same',

  async measure() {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const bare = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    });
    await using runtime = await createRuntime({ config: false, backend: 'cli', plugins: ['browser'] });
    try {
      const page = await bare.newPage({ viewport: { width: 1280, height: 720 } });
      const session = await page.context().newCDPSession(page);
      const look = async () => {
        await page.screenshot();
        await session.send('Accessibility.getFullAXTree');
      };
      let send = '';
      const timings = await interleave(
        {
          browse: async () => {
            const { elements } = await runtime.browse(url);
            send = elements.find(({ name }) => name === 'Send')?.bid ?? '';
          },
          'playwright-core goto': async () => {
            await page.goto(url);
            await look();
          },
          'interactive step': () => runtime.browseInteractive(`click('${send}')`),
          'playwright-core click': async () => {
            await page.click('button');
            await look();
          },
        },
        { rounds: 60, warmup: 10 },
      );
      const ratio = (one: keyof typeof timings, other: keyof typeof timings) =>
        timings[one].p50 / timings[other].p50;
      return {
        timings,
        floor: 'playwright-core goto',
        figures: [
          {
            name: 'browse, ratio of p50',
            value: ratio('browse', 'playwright-core goto'),
            unit: '×',
            better: 'less',
            bar: 1.3,
          },
          {
            name: 'interactive step, ratio of p50',
            value: ratio('interactive step', 'playwright-core click'),
            unit: '×',
            better: 'less',
            bar: 1.5,
          },
        ],
      };
    } finally {
      await bare.close();
      server.close();
    }
  },
});
