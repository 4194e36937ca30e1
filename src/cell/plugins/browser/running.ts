/** A Chromium that runs, with its pages. */
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, CDPSession, Dialog, Page, Response } from 'playwright-core';
import { requirePackages } from '../../../base/optional-package.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { Addresses } from './allowed-addresses.js';
import { reasonOf, Unresponsive, within } from './bounds.js';
import { most } from './browser-actions.js';
import { BrowserFiles } from './browser-files.js';
import type { BrowserOptions } from './browser-options.js';
import { Viewer } from './cell-file-viewer.js';
import { type Chromium, startChromium } from './chromium.js';
import { DevtoolsProxy } from './devtools-proxy.js';
import { Downloads } from './downloads.js';
import { interceptRequests } from './interception.js';
import { note, PageEvents, shortUrl } from './page-events.js';
import { Popups } from './popups.js';
import { SharedPipe } from './shared-pipe.js';
import { Tab } from './tab.js';

const require = createRequire(import.meta.url);

const startMs = 60_000;
const openMs = 10_000;
/** A page that asks more often than this within one action counts as hostile. */
const mostDialogs = 100;

export class Running {
  readonly events = new PageEvents();
  readonly addresses: Addresses;
  readonly files: BrowserFiles;
  readonly options: BrowserOptions;
  readonly #viewer: Viewer;
  readonly #chromium: Chromium;
  readonly #browser: Browser;
  readonly #context: BrowserContext;
  readonly #tabs = new Map<Page, Promise<Tab>>();
  #control: CDPSession | undefined;
  #downloads: Downloads | undefined;
  #popups: Popups | undefined;
  #active: Page | undefined;
  #dialogAnswer: { accept: boolean; text: string } | undefined;
  /** Why it ended. */
  ended: string | undefined;

  readonly #pipe: SharedPipe;
  #proxy: Promise<DevtoolsProxy> | undefined;

  private constructor(
    cell: PluginCell,
    options: BrowserOptions,
    { chromium, pipe, browser }: { chromium: Chromium; pipe: SharedPipe; browser: Browser },
  ) {
    this.options = options;
    this.addresses = new Addresses(cell, options);
    this.files = new BrowserFiles(cell);
    this.#viewer = new Viewer(cell);
    this.#chromium = chromium;
    this.#pipe = pipe;
    this.#browser = browser;
    [this.#context] = browser.contexts() as [BrowserContext];
    browser.on('disconnected', () => {
      this.ended ??= 'The browser ended. The next action starts a new one.';
    });
    this.#context.on('page', (page) => {
      // The next action on the page reports the failure.
      this.#take(page)?.catch(() => {});
    });
  }

  static async start(cell: PluginCell, options: BrowserOptions): Promise<Running> {
    requirePackages('A browser', ['playwright-core']);
    const starting = startChromium(cell, options);
    // Load it while Chromium starts; it is large, so not before.
    const { chromium: driver } = require('playwright-core') as typeof import('playwright-core');
    const chromium = await starting;
    try {
      const pipe = new SharedPipe(chromium.pipe);
      const connecting = driver.connectOverCDP(pipe, { timeout: startMs });
      const ended = chromium.exited.then(({ exitCode, signal }) => {
        throw new Error(`It ended by itself (${signal ?? exitCode}).`);
      });
      ended.catch(() => {});
      const browser = await Promise.race([connecting, ended]);
      const running = new Running(cell, options, { chromium, pipe, browser });
      await within(running.#prepare(), { ms: startMs, what: 'Preparing the browser' });
      return running;
    } catch (cause) {
      await chromium.close();
      const complaint = chromium.complaint().split('\n').slice(-5).join('\n');
      throw new WorkcellError(
        'plugin-unavailable',
        `Chromium does not start in the cell. ${reasonOf(cause)} ${complaint}`.trim(),
        { cause },
      );
    }
  }

  async #prepare(): Promise<void> {
    const [control] = await Promise.all([this.#browser.newBrowserCDPSession(), this.files.prepare()]);
    this.#control = control;
    const { addresses, events, files } = this;
    const [popups, downloads] = await Promise.all([
      Popups.follow(control),
      Downloads.follow(control, { files, events, limit: this.options.downloadBytes }),
      interceptRequests(control, { addresses, events, viewer: this.#viewer }),
    ]);
    this.#popups = popups;
    this.#downloads = downloads;
    for (const page of this.#context.pages()) this.#take(page);
  }

  /** The current page. There always is one: it replaces a broken one. */
  async active(): Promise<Tab> {
    const page = this.#active;
    if (page !== undefined && !page.isClosed()) {
      const tab = await this.#tabOf(page);
      if (tab !== undefined && tab.broken === undefined) return tab;
      // A broken page may take its time, which is not the time of this action.
      if (tab !== undefined) this.#leaveOut(page).catch(() => {});
    }
    const last = this.#open.at(-1);
    if (last === undefined) return this.openTab();
    this.#active = last;
    const tab = await this.#tabOf(last);
    return tab === undefined || tab.broken !== undefined ? this.openTab() : tab;
  }

  async openTab(): Promise<Tab> {
    const page = await this.#answered(this.#context.newPage(), 'Opening a page');
    const tab = await this.#take(page);
    if (tab === undefined) throw new Error(`There are ${most.pages} pages already; close one first.`);
    this.#active = page;
    return tab;
  }

  async closeTab({ page }: Tab): Promise<void> {
    await within(this.#leaveOut(page), { ms: openMs, what: 'Closing the page' });
  }

  async focusTab(index: number): Promise<void> {
    const page = this.#open[index];
    if (page === undefined)
      throw new Error(`There is no page ${index}; there are ${this.#open.length}, counted from 0.`);
    await within(page.bringToFront(), { ms: openMs, what: 'Showing the page' });
    this.#active = page;
  }

  /** The open pages, as reported by the browser and not by the pages. */
  async pages(): Promise<{ url: string; title: string; active: boolean }[]> {
    const asked = this.#control?.send('Target.getTargets') ?? { targetInfos: [] };
    const { targetInfos } = await this.#answered(Promise.resolve(asked), 'Listing the pages');
    const titles = new Map(targetInfos.map(({ targetId, title }) => [targetId, title]));
    return Promise.all(
      this.#open.map(async (page) => {
        const tab = await this.#tabOf(page);
        return {
          url: shortUrl(page.url()),
          title: note(titles.get(tab?.targetId ?? '') ?? ''),
          active: page === this.#active,
        };
      }),
    );
  }

  /** An address stays as it is; the path of a file becomes its address. */
  async addressOf(given: string): Promise<string> {
    return /^[a-z][a-z\d+.-]*:/i.test(given) ? given : this.#viewer.addressOf(given);
  }

  fileInside(path: string): Promise<string> {
    return this.files.forUpload(path);
  }

  answerDialog(accept: boolean, text: string): void {
    this.#dialogAnswer = { accept, text };
  }

  /** Waits for open pages that are not ready for use yet. */
  settlePopups(signal: AbortSignal | undefined): Promise<void> {
    return this.#popups?.settle(openMs, signal) ?? Promise.resolve();
  }

  settleDownloads(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#downloads?.settle(ms, signal) ?? Promise.resolve();
  }

  /** Pauses or resumes pages. */
  async hold(held: boolean): Promise<void> {
    await Promise.all(
      [...this.#tabs.values()].map(async (opening) => (await opening.catch(() => undefined))?.hold(held)),
    );
  }

  /** Whether other clients may work in the pages, too. */
  get shared(): boolean {
    return this.#proxy !== undefined;
  }

  async openCdp(tokenHash: string): Promise<number> {
    this.#proxy ??= DevtoolsProxy.open(this.#pipe);
    const proxy = await this.#proxy;
    proxy.tokens.add(tokenHash);
    return proxy.port;
  }

  async close(): Promise<void> {
    this.ended ??= 'The browser was closed.';
    (await this.#proxy?.catch(() => undefined))?.close();
    return this.#chromium.close();
  }

  /** The pages in use, in the order in which they opened. */
  get #open(): Page[] {
    return this.#context.pages().filter((page) => this.#tabs.has(page));
  }

  /** Takes a page out of use, and closes it. */
  #leaveOut(page: Page): Promise<void> {
    this.#tabs.delete(page);
    if (this.#active === page) this.#active = this.#open.at(-1);
    return page.close();
  }

  /** Nothing for a page that is not in use, or could not be prepared for it. */
  async #tabOf(page: Page): Promise<Tab | undefined> {
    return this.#tabs.get(page)?.catch(() => undefined);
  }

  /** Ends a browser that does not answer. The next action starts a new one. */
  async #answered<Result>(work: Promise<Result>, what: string): Promise<Result> {
    try {
      return await within(work, { ms: openMs, what });
    } catch (error) {
      if (error instanceof Unresponsive) {
        this.ended ??= `${error.message} The browser was ended. The next action starts a new one.`;
        void this.close();
      }
      throw error;
    }
  }

  /** Adopts a new page, or closes it when there are too many. */
  #take(page: Page): Promise<Tab> | undefined {
    const known = this.#tabs.get(page);
    if (known !== undefined) return known;
    if (this.#tabs.size >= most.pages) {
      this.events.add('blocked', {
        url: shortUrl(page.url()),
        reason: `There are ${most.pages} pages already, so this one was not opened.`,
      });
      page.close().catch(() => {});
      return undefined;
    }
    const opening = within(Tab.open(page, this.options.viewport), { ms: openMs, what: 'Opening a page' });
    opening.then(
      ({ targetId }) => this.#popups?.arrived(targetId),
      () => this.#leaveOut(page).catch(() => {}),
    );
    this.#tabs.set(page, opening);
    // A page that another one opened is what its user now sees.
    this.#active = page;
    page.on('close', () => this.#tabs.delete(page));
    page.on('dialog', (dialog) => void this.#answer(page, dialog).catch(() => {}));
    page.on('pageerror', (error) => this.events.add('pageErrors', note(error.message)));
    page.on('websocket', (socket) => void this.#judgeSocket(page, socket.url()).catch(() => {}));
    page.on('response', (response) => void this.#judgeSource(page, response).catch(() => {}));
    return opening;
  }

  async #answer(page: Page, dialog: Dialog): Promise<void> {
    const type = dialog.type();
    const given = type === 'confirm' || type === 'prompt' ? this.#dialogAnswer : undefined;
    const accepted = given?.accept ?? (type === 'alert' || type === 'beforeunload');
    if (given !== undefined) this.#dialogAnswer = undefined;
    this.events.add('dialogs', { type: note(type), message: note(dialog.message()), accepted });
    if (this.events.dialogCount > mostDialogs) {
      const tab = await this.#tabs.get(page);
      tab?.giveUp('The page asks without end, so it was closed.');
      await page.close();
    } else if (accepted) await dialog.accept(given?.text);
    else await dialog.dismiss();
  }

  /** We cannot hold a WebSocket back before it opens, so leave a page that opens a forbidden one. */
  async #judgeSocket(page: Page, url: string): Promise<void> {
    const refusal = await this.addresses.refusal(url);
    if (refusal !== undefined) await this.#leave(page, url, refusal);
  }

  /** A name can lead elsewhere when the browser asks than when we did, so check the address that answered, too. */
  async #judgeSource(page: Page, response: Response): Promise<void> {
    const url = response.url();
    const host = URL.canParse(url) ? new URL(url).hostname : '';
    if (host === '' || host === 'localhost' || host.endsWith('.localhost') || /^[\d.]+$|^\[/.test(host))
      return;
    const source = await response.serverAddr();
    if (source === null) return;
    const refusal = this.addresses.refusalOf(source.ipAddress.replace(/^\[|\]$/g, ''), host);
    if (refusal !== undefined) await this.#leave(page, url, refusal);
  }

  async #leave(page: Page, url: string, reason: string): Promise<void> {
    this.events.add('blocked', { url: shortUrl(url), reason: note(reason) });
    const tab = await this.#tabs.get(page);
    tab?.giveUp(reason);
  }
}
