/** One page of the browser. */
import { randomBytes } from 'node:crypto';
import type { CDPSession, ElementHandle, Page, Request } from 'playwright-core';
import { within } from './bounds.js';
import { FrameIds } from './look/ids.js';

/** How long what a page started by script may keep a look at it waiting. */
const quietMs = 1000;
/** How long looking up one element may take. */
const findMs = 3000;

export class Tab {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly targetId: string;
  readonly frameIds = new FrameIds();
  /** The elements of the last look, by id. Those of a page that was left mean nothing any more. */
  elements = new Map<string, number>();
  /** Why the page is of no use any more. */
  broken: string | undefined;
  #loading = false;
  readonly #scripted = new Set<Request>();
  #calm: (() => void) | undefined;

  private constructor(page: Page, cdp: CDPSession, targetId: string) {
    this.page = page;
    this.cdp = cdp;
    this.targetId = targetId;
    page.on('crash', () => {
      this.broken = 'The page crashed.';
    });
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) this.elements = new Map();
    });
    page.on('request', (request) => {
      if (this.#isScripted(request)) this.#scripted.add(request);
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

  get loading(): boolean {
    return this.#loading;
  }

  /** Waits until the page has loaded and what its scripts asked for is there; each within its time. */
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

  #isScripted(request: Request): boolean {
    return ['xhr', 'fetch'].includes(request.resourceType()) || this.#isNavigation(request);
  }

  #isNavigation(request: Request): boolean {
    // The frame of a navigation that has no page yet cannot be asked for.
    return request.isNavigationRequest() && !request.redirectedFrom();
  }
}

function unlessCancelled(error: unknown): void {
  if ((error as { code?: unknown }).code === 'cancelled') throw error;
}
