/** A browser whose messages to its owner a program of the cell changes on the way. */
import { join } from 'node:path';
import type { Round } from '../cell.js';
import { seedFile } from '../generators/devtools.js';
import type { Surface } from './surface.js';

const timeoutMs = 3000;

const page =
  'data:text/html,<title>Page</title><h1>Hello</h1><a href="about:blank">go</a><button onclick="alert(1)">ask</button>';

export const devtools: Surface = {
  backends: ['sandbox'],
  mostBytes: 384 << 20,
  options: (programs) => ({
    plugins: [{ name: 'browser', options: { program: join(programs, 'chromium') } }],
  }),

  async warmUp(round) {
    await browse(round, 20_000);
    await round.runtime.browseInteractive('noop(1)', { timeoutMs: 20_000 });
  },

  async round(round) {
    const { runtime, seed, random, answered } = round;
    await runtime.write(seedFile, String(seed));
    for (let count = random.between(1, 3); count > 0; count--) {
      await browse(round, timeoutMs);
      await answered('browse_interactive', timeoutMs, (signal) =>
        runtime.browseInteractive(
          random.pick(['noop(10)', "click('1')", 'go_back()', 'scroll(0, 100)', 'new_tab()', 'tab_close()']),
          { timeoutMs, signal },
        ),
      );
    }
    await runtime.files.remove(seedFile);
    await answered('ending the browser', 10_000, () =>
      runtime.run("pkill -KILL -f 'inside.mjs [d]evtools'; pkill -KILL -f '[r]emote-debugging-pipe'", {
        timeoutMs: 10_000,
      }),
    );
    await expectHonestBrowser(round);
  },
};

async function browse({ runtime, answered }: Round, deadlineMs: number): Promise<void> {
  await answered('browse', deadlineMs, (signal) => runtime.browse(page, { timeoutMs: deadlineMs, signal }));
}

/** A new browser without interference shows the page. The end of the old one may come first. */
async function expectHonestBrowser({ runtime, answered, claim }: Round): Promise<void> {
  const look = () =>
    answered('browse, honestly', 30_000, (signal) =>
      runtime.browse(page, { timeoutMs: 30_000, screenshot: false, signal }),
    );
  const shown = [await look(), await look()].at(-1);
  claim(
    shown?.title === 'Page',
    `a page "Page" was told as ${JSON.stringify(shown?.title)}: ${shown?.error}`,
  );
}
