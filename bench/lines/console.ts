import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { WebSocketServer } from 'ws';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { type ServedConsole, serveConsole } from '../../test/console/served-console.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const cells = 200;
const recordEvents = 100_000;
/** What an hour of a busy cell leaves: a command each second, and a mark of progress for each. */
const busyCommands = 3600;
const keys = 'abcdefghijklmnopqrstuvwxyz';

export default defineLine({
  name: 'console',
  summary:
    'the page in a real browser: 200 cells, a long record, a terminal, a busy cell; floors: an empty page, and an echo over a bare WebSocket',

  async measure() {
    const served = await serveConsole();
    const bare = await serveBare();
    try {
      await keepRecord(served, 'long', 0, recordEvents / 2);
      await keepRecord(served, 'busy', 0, 100);
      const names = Array.from({ length: cells }, (_, index) => `cell-${index}`);
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let name = names.pop(); name !== undefined; name = names.pop())
            await served.client.create({ name });
        }),
      );
      const { page } = await served.open('/cells');
      const empty = await page.context().newPage();
      const open = async (path: string) => {
        // Another document, so that nothing of the page before is left but the cache of files.
        await page.goto('about:blank');
        await page.goto(`${served.url}/console/#/${path}`, { waitUntil: 'commit' });
      };
      const { page: typing } = await served.open('/cells');
      const echo = await openTerminal(typing, served);
      await empty.goto(bare.url);
      let next = 0;
      const timings = await interleave(
        {
          'the page with 200 cells': async () => {
            await open('cells');
            await page
              .locator('tbody tr')
              .nth(cells - 1)
              .waitFor({ state: 'attached' });
          },
          'a record of 100,000 events': async () => {
            await open('records/long');
            await page.getByRole('option', { name: `--shard ${recordEvents / 2 - 1}` }).waitFor();
          },
          'all of that record': async () => {
            await open('records/long');
            await page.locator('.scrubber .num', { hasText: `/ ${recordEvents / 2}` }).waitFor();
          },
          'an empty page': async () => {
            await empty.goto('about:blank');
            await empty.goto(bare.url, { waitUntil: 'commit' });
            await empty.locator('h1').waitFor();
          },
        },
        { rounds: 8, warmup: 2 },
      );
      await page.goto('about:blank');
      const typed: number[] = [];
      const echoed: number[] = [];
      for (let round = 0; round < 60; round++) {
        typed.push(await echo(keys[next++ % keys.length] as string));
        echoed.push((await empty.evaluate('echo()')) as number);
      }
      const grownMiB = await growth(page, served);
      const p50 = (list: readonly number[]) =>
        list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] as number;
      const bar = { unit: 'ms', better: 'less' } as const;
      return {
        timings,
        floor: 'an empty page',
        figures: [
          {
            name: 'first useful paint with 200 cells',
            value: timings['the page with 200 cells'].p50,
            ...bar,
            bar: 1000,
          },
          {
            name: 'a record of 100,000 events opens, and shows its end',
            value: timings['a record of 100,000 events'].p50,
            ...bar,
            bar: 1500,
          },
          { name: 'a typed key to its echo on the screen', value: p50(typed), ...bar, bar: 30 },
          { name: 'floor of that: an echo over a bare WebSocket', value: p50(echoed), ...bar, bar: 30 },
          {
            name: `memory of the page, more after ${busyCommands} commands`,
            value: grownMiB,
            unit: 'MiB',
            better: 'less',
            bar: 16,
          },
        ],
      };
    } finally {
      bare.close();
      await served.close();
    }
  },
});

/** Commands with marks of progress and output, as a runtime records them. */
async function keepRecord(
  { directory }: ServedConsole,
  runtimeId: string,
  from: number,
  commands: number,
): Promise<void> {
  const store = await openEventStore(`sqlite:${join(directory, 'events.db')}`);
  const common = { at: Date.now(), runtimeId, source: 'agent' as const };
  const last = await store.last(runtimeId);
  const all = Array.from({ length: commands }, (_, index): WorkcellEvent[] => {
    const id = last + 2 * index + 1;
    const command = `npm test -- --shard ${from + index}`;
    const output = `${'ok 1 - it works\n'.repeat(8)}step ${from + index}\n`;
    return [
      { ...common, id, kind: 'action', action: { action: 'run', command } },
      {
        ...common,
        id: id + 1,
        kind: 'observation',
        cause: id,
        observation: { observation: 'run', output, exitCode: 0, endedBy: 'exit' },
      },
    ];
  }).flat();
  for (let at = 0; at < all.length; at += 5000) await store.append(all.slice(at, at + 5000));
  await store.close();
}

/** Types a key and gives the time until the screen shows it, as the page sees both. */
async function openTerminal(page: Page, served: ServedConsole): Promise<(key: string) => Promise<number>> {
  const { id } = await served.client.get('cell-0');
  await page.evaluate(`location.hash = '#/cells/${id}/terminal'`);
  await page.getByRole('button', { name: 'Open a terminal' }).click();
  await page.locator('.xterm-rows').getByText('$').first().waitFor();
  await page.evaluate(`
    addEventListener('keydown', () => {
      const begun = performance.now();
      window.shown = new Promise((resolve) => { window.onShown = () => resolve(performance.now() - begun); });
    }, true);
    new MutationObserver(() => window.onShown?.())
      .observe(document.querySelector('.xterm-rows'), { subtree: true, childList: true, characterData: true });
  `);
  return async (key) => {
    await page.keyboard.press(key);
    return (await page.evaluate('window.shown')) as number;
  };
}

/** How much larger the page is after an hour of events, which come in turns. */
async function growth(page: Page, served: ServedConsole): Promise<number> {
  await page.goto(`${served.url}/console/#/records/busy`);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const shows = (count: number) =>
    page.locator('.scrubber .num', { hasText: new RegExp(`/ ${count}$`) }).waitFor();
  const heap = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devtools.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1024 / 1024;
  };
  await shows(100);
  const before = await heap();
  const turn = busyCommands / 12;
  for (let done = 0; done < busyCommands; done += turn) {
    await keepRecord(served, 'busy', 100 + done, turn);
    await shows(100 + done + turn);
    await setTimeout(20);
  }
  return (await heap()) - before;
}

/** A page with nothing on it, and an echo. */
async function serveBare(): Promise<{ url: string; close(): void }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Empty</title><h1>Empty</h1><script>
      const socket = new WebSocket(location.href.replace('http', 'ws'));
      const opened = new Promise((resolve) => { socket.onopen = resolve; });
      window.echo = async () => {
        await opened;
        const begun = performance.now();
        const answered = new Promise((resolve) => { socket.onmessage = resolve; });
        socket.send('x');
        await answered;
        return performance.now() - begun;
      };
    </script>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
    },
  };
}
