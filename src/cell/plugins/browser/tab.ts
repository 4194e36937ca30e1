/** One page of the browser. */
import { randomBytes } from 'node:crypto';
import type { CDPSession, ElementHandle, Page, Request } from 'playwright-core';
import { Unresponsive, within } from './bounds.js';
import { FrameIds } from './observe/ids.js';
import { isPdf, pdfShown } from './pdf.js';

/** How long requests that a page's script started may delay an observation. */
const quietMs = 1000;
/** How long looking up one element may take. */
const findMs = 3000;
const respondMs = 5000;
const pdfMs = 10_000;

export class Tab {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly targetId: string;
  readonly frameIds = new FrameIds();
  /** The elements of the last look, by id. Ids of an earlier page mean nothing. */
  elements = new Map<string, number>();
  #broken: string | undefined;
  #give: (reason: Error) => void = () => {};
  /** Rejects when the page is unusable. */
  readonly #gone: Promise<never>;
  #loading = false;
  /** The address of the last page that was a PDF. */
  #pdf: string | undefined;
  readonly #scripted = new Set<Request>();
  #calm: (() => void) | undefined;

  private constructor(page: Page, cdp: CDPSession, targetId: string) {
    this.page = page;
    this.cdp = cdp;
    this.targetId = targetId;
    this.#gone = new Promise((_, reject) => {
      this.#give = reject;
    });
    this.#gone.catch(() => {});
    page.on('crash', () => this.giveUp('The page crashed.'));
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) this.elements = new Map();
    });
    page.on('request', (request) => {
      if (this.#isScripted(request)) this.#scripted.add(request);
    });
    page.on('response', (response) => {
      const request = response.request();
      if (request.isNavigationRequest() && request.resourceType() === 'document' && this.#isOfPage(request))
        this.#pdf = isPdf(response) ? response.url() : undefined;
    });
    const done = (request: Request) => {
      if (this.#scripted.delete(request) && this.#scripted.size === 0) this.#calm?.();
    };
    page.on('requestfinished', done);
    page.on('requestfailed', done);
  }

  static async open(page: Page, viewport: { width: number; height: number }): Promise<Tab> {
    const [cdp] = await Promise.all([page.context().newCDPSession(page), page.setViewportSize(viewport)]);
    const { targetInfo } = await cdp.send('Target.getTargetInfo');
    return new Tab(page, cdp, targetInfo.targetId);
  }

  /** Why the page is unusable. */
  get broken(): string | undefined {
    return this.#broken;
  }

  giveUp(reason: string): void {
    this.#broken ??= reason;
    this.#give(new Error(this.#broken));
  }

  /** Waits for something as long as the page lives. */
  whileAlive<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#gone]);
  }

  /** Whether the page still takes orders. */
  async responds(): Promise<boolean> {
    const answer = this.whileAlive(this.cdp.send('Runtime.evaluate', { expression: '0' }));
    return within(answer, { ms: respondMs, what: 'An answer of the page' }).then(
      () => true,
      () => false,
    );
  }

  /** Pauses the page's scripts at their next step, or resumes them. They lose nothing. */
  async hold(held: boolean): Promise<void> {
    if (this.broken !== undefined) return;
    if (!held) return this.#order('Debugger.disable');
    await this.#order('Debugger.enable');
    await this.#order('Debugger.pause');
  }

  /** Gives up what the page still loads. */
  async stopLoading(): Promise<void> {
    await this.#order('Page.stopLoading');
  }

  /** Gives up the page when it does not take the order in time. */
  async #order(order: 'Debugger.disable' | 'Debugger.enable' | 'Debugger.pause' | 'Page.stopLoading') {
    const taken = this.whileAlive(this.cdp.send(order));
    await within(taken, { ms: respondMs, what: `The order ${order}` }).catch((error) => {
      if (error instanceof Unresponsive) this.giveUp(`${error.message} The page does not respond.`);
    });
  }

  get loading(): boolean {
    return this.#loading;
  }

  /** Waits until the page has loaded and its scripts have what they requested; each within its time. */
  async settle(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.broken !== undefined || this.page.isClosed()) return;
    if (this.#scripted.size > 0) {
      const calm = new Promise<void>((resolve) => {
        this.#calm = resolve;
      });
      await within(calm, { ms: Math.min(quietMs, timeoutMs), what: 'Loading', signal }).catch(
        unlessCancelled,
      );
      this.#scripted.clear();
    }
    this.#loading = false;
    const loaded = this.page.waitForLoadState('load', { timeout: timeoutMs });
    await within(loaded, { ms: timeoutMs, what: 'Loading', signal }).catch((error) => {
      unlessCancelled(error);
      this.#loading = true;
    });
    if (this.page.url() !== this.#pdf) return;
    const shown = pdfShown(this.page, Math.min(pdfMs, timeoutMs));
    await within(shown, { ms: pdfMs, what: 'Showing the PDF', signal }).catch(unlessCancelled);
  }

  /** A handle on an element. It goes through the page, but under a name that the page cannot know before. */
  async find(bid: string): Promise<ElementHandle> {
    const backendNodeId = this.elements.get(bid);
    if (backendNodeId === undefined) {
      throw new Error(
        `There is no element ${bid} in the page as it was last seen. Look at the page again and take an id from there.`,
      );
    }
    return within(this.#handle(backendNodeId, bid), { ms: findMs, what: `Finding element ${bid}` });
  }

  async #handle(backendNodeId: number, bid: string): Promise<ElementHandle> {
    const key = `_${randomBytes(12).toString('hex')}`;
    let objectId: string | undefined;
    try {
      ({
        object: { objectId },
      } = await this.cdp.send('DOM.resolveNode', { backendNodeId }));
    } catch {
      throw new Error(`The element ${bid} is gone. Look at the page again.`);
    }
    if (objectId === undefined) throw new Error(`The element ${bid} is gone. Look at the page again.`);
    await this.cdp.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: 'function (key) { this.ownerDocument.defaultView[key] = this; }',
      arguments: [{ value: key }],
    });
    void this.cdp.send('Runtime.releaseObject', { objectId }).catch(() => {});
    for (const frame of this.page.frames()) {
      const handle = await frame
        .evaluateHandle((name) => {
          const holder = globalThis as unknown as Record<string, unknown>;
          const element = holder[name];
          delete holder[name];
          return element;
        }, key)
        .catch(() => undefined);
      const element = handle?.asElement();
      if (element) return element as ElementHandle;
    }
    throw new Error(`The element ${bid} is gone. Look at the page again.`);
  }

  /** Not of a frame in it. */
  #isOfPage(request: Request): boolean {
    try {
      return request.frame() === this.page.mainFrame();
    } catch {
      // A navigation without a page has no frame yet.
      return false;
    }
  }

  #isScripted(request: Request): boolean {
    return ['xhr', 'fetch'].includes(request.resourceType()) || request.isNavigationRequest();
  }
}

function unlessCancelled(error: unknown): void {
  if ((error as { code?: unknown }).code === 'cancelled') throw error;
}
