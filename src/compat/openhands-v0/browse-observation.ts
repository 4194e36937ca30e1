/** Pages as clients of OpenHands V0 know them. */
import type { Observation } from '../../protocol/index.js';
import { axTree } from './axtree.js';
import type { ObservationEvent } from './observations.js';
import { browsing, summaries } from './openhands-messages.js';

type Page = Omit<Observation<'browse'>, 'observation'>;

export function browseObservation(
  page: Page,
  action: 'browse' | 'browse_interactive',
  withTree: boolean,
): ObservationEvent {
  const { url, error, pages, screenshot, marked, elements } = page;
  return {
    observation: 'browse',
    content: action === 'browse' ? pageText(page) : pageTree(page),
    extras: {
      url,
      trigger_by_action: action,
      screenshot: dataUrl(screenshot),
      screenshot_path: screenshot?.path ?? null,
      set_of_marks: dataUrl(marked),
      error: error !== null,
      goal_image_urls: [],
      open_pages_urls: pages.map((open) => open.url),
      active_page_index: pages.findIndex((open) => open.active),
      dom_object: {},
      axtree_object: withTree ? axTree(page.tree) : {},
      extra_element_properties: withTree ? elementProperties(elements) : {},
      last_browser_action: page.lastAction,
      last_browser_action_error: error ?? '',
      focused_element_bid: page.focused ?? '',
      filter_visible_only: false,
    },
    message: summaries.browse(url),
  };
}

/** What a client gets instead of a page when its action made the browser save a file. */
export function downloadObservation({ downloads }: Page): ObservationEvent | undefined {
  const path = downloads.find(({ state }) => state === 'completed')?.path;
  if (path === undefined || path === null) return undefined;
  const content = browsing.downloaded(path);
  return { observation: 'download', content, extras: { file_path: path }, message: content };
}

function pageText({ url, error, text }: Page): string {
  return [
    browsing.url(url),
    ...(error === null ? [] : [browsing.failed(error)]),
    browsing.textBegins,
    text,
    browsing.textEnds,
  ].join('\n');
}

function pageTree({ url, error, tree, focused, screenshot }: Page): string {
  return [
    browsing.url(url),
    browsing.focused(focused),
    ...(screenshot?.path ? [browsing.screenshot(screenshot.path)] : []),
    error === null ? browsing.succeeded : browsing.failed(error),
    browsing.treeBegins,
    tree,
    browsing.treeEnds,
  ].join('\n');
}

function dataUrl(image: Page['screenshot']): string {
  return image === null ? '' : `data:image/png;base64,${image.data}`;
}

function elementProperties(elements: Page['elements']): Record<string, unknown> {
  return Object.fromEntries(
    elements.map(({ bid, box }) => [bid, { visibility: 1, bbox: box, clickable: true, set_of_marks: true }]),
  );
}
