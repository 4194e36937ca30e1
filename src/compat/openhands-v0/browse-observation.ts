/** Pages as clients of OpenHands V0 know them. */
import type { Observation } from '../../protocol/index.js';
import type { Text } from '../messages.js';
import { axTree } from './axtree.js';
import type { ObservationEvent } from './observations.js';
import { words } from './openhands-words.js';

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
    message: words('summary.browse', { url }),
  };
}

/** What a client gets instead of a page when its action made the browser save a file. */
export function downloadObservation({ downloads }: Page): ObservationEvent | undefined {
  const path = downloads.find(({ state }) => state === 'completed')?.path;
  if (path === undefined || path === null) return undefined;
  const content = words('browse.downloaded', { path });
  return { observation: 'download', content, extras: { file_path: path }, message: content };
}

function pageText({ url, error, text }: Page): Text {
  return lines([
    words('browse.url', { url }),
    ...(error === null ? [] : [words('browse.failed', { error })]),
    words('browse.text_begins'),
    text,
    words('browse.text_ends'),
  ]);
}

function pageTree({ url, error, tree, focused, screenshot }: Page): Text {
  return lines([
    words('browse.url', { url }),
    focused === null ? words('browse.no_focus') : words('browse.focused', { bid: focused }),
    ...(screenshot?.path ? [words('browse.screenshot', { path: screenshot.path })] : []),
    error === null ? words('browse.succeeded') : words('browse.failed', { error }),
    words('browse.tree_begins'),
    tree,
    words('browse.tree_ends'),
  ]);
}

function lines(texts: readonly Text[]): Text {
  return texts.flatMap((text, index) => (index === 0 ? [text] : ['\n', text]));
}

function dataUrl(image: Page['screenshot']): string {
  return image === null ? '' : `data:image/png;base64,${image.data}`;
}

function elementProperties(elements: Page['elements']): Record<string, unknown> {
  return Object.fromEntries(
    elements.map(({ bid, box }) => [bid, { visibility: 1, bbox: box, clickable: true, set_of_marks: true }]),
  );
}
