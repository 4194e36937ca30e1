/** A real service with a freshly built console, and a browser that looks at it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { build } from 'vite';
import { ServiceClient } from '../../src/client/index.js';
import { type Service, startService } from '../../src/service/serve-service.js';

export const operatorKey = 'an-operator-key-of-the-test';

export interface ServedConsole {
  readonly directory: string;
  readonly built: string;
  readonly client: ServiceClient;
  url: string;
  /** A page of a browser session of its own. Every problem that the page logs fails the test that asks for `problems`. */
  open(path?: string, options?: BrowserContextOptions): Promise<{ page: Page; problems: string[] }>;
  /** An action in a cell, as an agent sends it. */
  act(cell: string, action: object): Promise<Record<string, unknown>>;
  /** Stops the service, and starts another at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function serveConsole(): Promise<ServedConsole> {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-console-'));
  const built = join(directory, 'console');
  const config = join(directory, 'service.toml');
  // What cells of the template `asking` reach as asked.test.
  const asked = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(asked, 'listening');
  const place = `127.0.0.1:${(asked.address() as AddressInfo).port}`;
  writeFileSync(config, settings(directory, place), { mode: 0o600 });
  const start = (port: number): Promise<Service> =>
    startService({ listen: { host: '127.0.0.1', port }, operatorKey, config, console: built });
  const [, firstService, browser] = await Promise.all([buildConsole(built), start(0), startBrowser()]);
  let service = firstService;
  const { port } = service.address as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const client = new ServiceClient({ url, apiKey: operatorKey });
  return {
    directory,
    built,
    client,
    url,
    async open(path = '/', options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      await page.goto(`${url}/console/#key=${operatorKey}&${path}`);
      return { page, problems };
    },
    async act(cell, action) {
      const response = await fetch(`${client.address(cell)}/v1/actions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(action),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async restart() {
      await service.close();
      service = await start(port);
    },
    async close() {
      await browser.close();
      for await (const { id } of client.all()) await client.remove(id);
      await service.close();
      asked.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What each view shows and no other does, when it has what it asks the service for: of a cell that ran something. */
const signs: Readonly<Record<string, (page: Page) => Locator>> = {
  '/cells': (page) => page.locator('main:has(.strip) tbody tr').first(),
  '/records': (page) => page.getByLabel(/^Compare /).first(),
  '/questions': (page) => page.getByRole('article').or(page.getByText('Nothing waits for you.')).first(),
  // On a telephone the details stand in the place of the list.
  timeline: (page) => page.locator(':is([aria-label="What happened"] .line, .details h2):visible').first(),
  changes: (page) => page.locator('main .diff').first(),
  transcript: (page) => page.getByRole('region', { name: 'Transcript' }),
  network: (page) => page.getByText('The record has no connection.'),
  browser: (page) => page.getByText('The agent opened no page yet.'),
  terminal: (page) => page.getByRole('button', { name: 'Open a terminal' }),
  files: (page) => page.locator('main .tree button').first(),
  git: (page) => page.getByRole('alert').getByText('not a git repository'),
  processes: (page) => page.locator('main .figures dd').first(),
  ports: (page) => page.getByRole('heading', { name: 'Link to a port' }),
  isolation: (page) => page.locator('main .isolation li').first(),
};

/** Goes to a view, and waits until the page shows that very view. */
export async function goTo(page: Page, path: string): Promise<void> {
  const [view = ''] = path.split('?');
  const sign = signs[view] ?? signs[view.split('/').at(-1) ?? ''];
  if (sign === undefined) throw new Error(`No test knows what ${path} shows.`);
  await page.evaluate(`location.hash = '#${path}'`);
  await sign(page).waitFor();
}

/** The published form; a test would otherwise get the development build of React. */
async function buildConsole(outDir: string): Promise<void> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build({ configFile: 'console/vite.config.ts', logLevel: 'warn', build: { outDir } });
  } finally {
    process.env.NODE_ENV = before;
  }
}

function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-lcd-text',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
    ],
  });
}

function settings(directory: string, place: string): string {
  return `
backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[security]
guards = ["rules"]
confirm = "store"
rules = [
  { decision = "confirm", command = "touch asked*", reason = "the test wants a person" },
  { decision = "confirm", action = "write", path = "**/asked*", reason = "the test wants a person" },
  { decision = "allow", command = "*" },
  { decision = "allow", action = "open_terminal" },
]
[service]
store = "sqlite:${join(directory, 'service.db')}"
[service.templates.short]
ttl = 7200
[service.templates.asking]
backend = "sandbox"
options = { network = { ask = true, hosts = { "asked.test" = "${place}" } } }
`;
}
