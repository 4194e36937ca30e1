/** Looks at a page: what it shows, what you can do with it, and a picture. Runs no code in the page. */

import { within } from './bounds.js';
import { most, type PageObservation } from './browser-actions.js';
import { usableElements } from './observe/elements.js';
import { elementIds } from './observe/ids.js';
import { readableText } from './observe/page-text.js';
import { readAxNodes, renderTree } from './observe/page-tree.js';
import { readSnapshot, wantedStyles } from './observe/snapshot.js';
import type { Tab } from './tab.js';

/** For a page with more nodes than this, return only its picture. */
const mostNodes = 100_000;
const mostFrames = 100;

export type PageState = Pick<PageObservation, 'text' | 'tree' | 'truncated' | 'focused' | 'elements'>;

interface Wanted {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly ms: number;
  readonly signal: AbortSignal | undefined;
}

export function observePage(tab: Tab, wanted: Wanted): Promise<PageState> {
  const { ms, signal } = wanted;
  return within(describe(tab, wanted), { ms, signal, what: 'Looking at the page' });
}

/** The visible part as PNG, in base64. */
export async function takePicture({ cdp }: Tab, { ms, signal }: Wanted): Promise<string> {
  const taking = cdp.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
  const { data } = await within(taking, { ms, signal, what: 'Taking a picture of the page' });
  if (typeof data !== 'string' || data.length > most.imageLength || !/^[\w+/]+=*$/.test(data))
    throw new Error('The browser gave no usable picture.');
  return data;
}

async function describe(tab: Tab, { viewport }: Wanted): Promise<PageState> {
  const { cdp } = tab;
  const { nodes: count } = await cdp.send('Memory.getDOMCounters');
  if (count > mostNodes) return tooLarge(count);
  const documents = readSnapshot(
    await cdp.send('DOMSnapshot.captureSnapshot', { computedStyles: wantedStyles, includeDOMRects: true }),
  );
  const prefixes = tab.frameIds.assign(documents);
  const nodes = await Promise.all(
    documents.slice(0, mostFrames).map(async ({ frameId }, at) => {
      // A frame that went away meanwhile has no tree.
      const raw = await cdp
        .send('Accessibility.getFullAXTree', at === 0 ? {} : { frameId })
        .catch(() => ({ nodes: [] }));
      return readAxNodes(raw);
    }),
  );
  tab.elements = elementIds(documents, prefixes);
  const tree = renderTree({ documents, prefixes, nodes }, most.treeLength);
  const text = readableText(documents, most.textLength);
  const elements = usableElements(documents, prefixes, viewport, most.elements);
  return {
    text: text.text,
    tree: tree.text,
    truncated: text.truncated || tree.truncated,
    focused: tree.focused,
    elements: elements.map(({ backendId, ...element }) => {
      const { role, name } = tree.spoken.get(backendId) ?? {};
      return {
        ...element,
        ...(role ? { role: role.slice(0, 100) } : {}),
        ...(name ? { name: name.slice(0, 200) } : {}),
      };
    }),
  };
}

function tooLarge(count: number): PageState {
  const text = `[The page has ${count} nodes; more than ${mostNodes} are not described. Use the picture, mouse_click(x, y) and keyboard_type(text).]`;
  return { text, tree: text, truncated: true, focused: null, elements: [] };
}
