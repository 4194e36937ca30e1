/** Checks every request of the browser before it goes out, including those of frames, workers and redirects. */
import type { CDPSession } from 'playwright-core';
import type { Addresses } from './allowed-addresses.js';
import type { Viewer } from './cell-file-viewer.js';
import { note, type PageEvents, shortUrl } from './page-events.js';

/** Do not ask about addresses without a host and about pages of the browser itself. */
const patterns = ['http://*', 'https://*', 'file://*', 'ftp://*', 'filesystem:*'];

interface Paused {
  readonly requestId: string;
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly resourceType: string;
}

export async function interceptRequests(
  control: CDPSession,
  parts: { addresses: Addresses; events: PageEvents; viewer: Viewer },
): Promise<void> {
  const { addresses, events, viewer } = parts;

  async function answer({ requestId, request, resourceType }: Paused): Promise<void> {
    const { url, headers } = request;
    if (viewer.owns(url)) {
      await control.send('Fetch.fulfillRequest', { requestId, ...(await viewer.answer(url, headers)) });
      return;
    }
    const verdict = addresses.refusal(url);
    const refusal = verdict instanceof Promise ? await verdict : verdict;
    if (refusal === undefined) {
      await control.send('Fetch.continueRequest', { requestId });
      return;
    }
    events.add('blocked', { url: shortUrl(url), reason: note(refusal) });
    // Show a page that says why, because an error page of the browser would only confuse.
    if (resourceType === 'Document') {
      await control.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 403,
        responseHeaders: [{ name: 'content-type', value: 'text/plain; charset=utf-8' }],
        body: Buffer.from(refusal).toString('base64'),
      });
    } else await control.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
  }

  control.on('Fetch.requestPaused', (paused: Paused) => {
    // We cannot answer a request whose page is gone; refuse a request that we cannot judge.
    answer(paused).catch(() =>
      control
        .send('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'BlockedByClient' })
        .catch(() => {}),
    );
  });
  await control.send('Fetch.enable', { patterns: patterns.map((urlPattern) => ({ urlPattern })) });
}
