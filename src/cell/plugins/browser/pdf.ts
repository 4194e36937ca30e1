/** Chromium shows a PDF in a frame with its own page, which still loads when the page around it has loaded. */
import type { Frame, Page, Response } from 'playwright-core';

export function isPdf(response: Response): boolean {
  return /^application\/pdf\b/i.test(response.headers()['content-type'] ?? '');
}

/** Settles when the viewer has drawn the PDF, or cannot. */
export async function pdfShown(page: Page, timeout: number): Promise<void> {
  const isViewer = (frame: Frame) => frame.url().startsWith('chrome-extension://');
  const viewer =
    page.frames().find(isViewer) ??
    (await page.waitForEvent('framenavigated', { predicate: isViewer, timeout }));
  await viewer.evaluate(drawn);
}

/** Runs in the viewer, which does not report when it is ready; each look waits for a frame that it draws. */
const drawn = `new Promise((resolve) => {
  const look = () => {
    const state = document.querySelector('pdf-viewer')?.loadState_;
    if (state === 'success' || state === 'failed') requestAnimationFrame(() => requestAnimationFrame(resolve));
    else requestAnimationFrame(look);
  };
  look();
})`;
