/** Follows what pages make the browser save. */
import type { CDPSession } from 'playwright-core';
import * as z from 'zod';
import { within } from './bounds.js';
import type { BrowserFiles } from './browser-files.js';
import { type PageEvents, shortUrl } from './page-events.js';

const beginning = z.object({ guid: z.uuid(), url: z.string(), suggestedFilename: z.string() });
const progress = z.object({
  guid: z.uuid(),
  receivedBytes: z.number(),
  state: z.enum(['inProgress', 'completed', 'canceled']),
});

/** The browser cancels more than these at once. */
const mostAtOnce = 20;

interface Download {
  readonly url: string;
  readonly name: string;
  sizeBytes: number;
  settle: () => void;
  readonly settled: Promise<void>;
}

export class Downloads {
  readonly #control: CDPSession;
  readonly #files: BrowserFiles;
  readonly #events: PageEvents;
  readonly #limit: number;
  readonly #running = new Map<string, Download>();

  private constructor(control: CDPSession, files: BrowserFiles, events: PageEvents, limit: number) {
    this.#control = control;
    this.#files = files;
    this.#events = events;
    this.#limit = limit;
  }

  static async follow(
    control: CDPSession,
    parts: { files: BrowserFiles; events: PageEvents; limit: number },
  ): Promise<Downloads> {
    const downloads = new Downloads(control, parts.files, parts.events, parts.limit);
    control.on('Browser.downloadWillBegin', (event: unknown) => downloads.#begin(event));
    control.on('Browser.downloadProgress', (event: unknown) => downloads.#advance(event));
    await control.send('Browser.setDownloadBehavior', {
      behavior: 'allowAndName',
      downloadPath: parts.files.downloads,
      eventsEnabled: true,
    });
    return downloads;
  }

  /** Waits for downloads in progress. Reports one that takes longer as unfinished, and again when it has arrived. */
  async settle(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#running.size === 0) return;
    const all = Promise.all([...this.#running.values()].map(({ settled }) => settled));
    await within(all, { ms, what: 'The download', signal }).catch((error) => {
      if ((error as { code?: unknown }).code === 'cancelled') throw error;
      for (const { url, sizeBytes } of this.#running.values())
        this.#events.add('downloads', { url, sizeBytes, path: null, state: 'inProgress' });
    });
  }

  #begin(event: unknown): void {
    const { data } = beginning.safeParse(event);
    if (data === undefined) return;
    if (this.#running.size >= mostAtOnce) {
      this.#cancel(data.guid);
      return;
    }
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const { url, suggestedFilename: name } = data;
    this.#running.set(data.guid, { url: shortUrl(url), name, sizeBytes: 0, settle, settled });
  }

  #advance(event: unknown): void {
    const { data } = progress.safeParse(event);
    const download = this.#running.get(data?.guid ?? '');
    if (data === undefined || download === undefined) return;
    download.sizeBytes = data.receivedBytes;
    if (data.state === 'inProgress') {
      if (data.receivedBytes > this.#limit) this.#cancel(data.guid);
      return;
    }
    void this.#end(data.guid, download, data.state).catch(() => {});
  }

  async #end(guid: string, download: Download, state: 'completed' | 'canceled'): Promise<void> {
    const { url, name, sizeBytes, settle } = download;
    const tooLarge = sizeBytes > this.#limit;
    let path: string | null = null;
    if (state === 'completed' && !tooLarge)
      path = await this.#files.nameDownload(guid, name).catch(() => null);
    if (path === null) await this.#files.remove(`${this.#files.downloads}/${guid}`);
    this.#running.delete(guid);
    this.#events.add('downloads', { url, path, sizeBytes, state: path === null ? 'canceled' : state });
    settle();
  }

  #cancel(guid: string): void {
    this.#control.send('Browser.cancelDownload', { guid }).catch(() => {});
  }
}
