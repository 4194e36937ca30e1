/** The elements in view that an agent can click or fill in. */
import { type Box, elementType, type PageDocument } from './snapshot.js';

export interface UsableElement {
  readonly bid: string;
  readonly backendId: number;
  readonly tag: string;
  readonly box: [number, number, number, number];
}

const usableTags = new Set(['button', 'input', 'select', 'textarea', 'summary', 'option', 'video', 'audio']);
const usableRoles =
  /^(?:button|checkbox|combobox|link|listbox|menuitem(?:checkbox|radio)?|option|radio|searchbox|slider|spinbutton|switch|tab|textbox|treeitem)$/;

/** Smaller ones are invisible. */
const leastArea = 20;

export function usableElements(
  documents: readonly PageDocument[],
  prefixes: readonly string[],
  viewport: { readonly width: number; readonly height: number },
  limit: number,
): UsableElement[] {
  const found: UsableElement[] = [];
  const places = placeDocuments(documents, viewport);
  documents.forEach((document, at) => {
    const place = places[at];
    if (place === undefined) return;
    for (const [node, { box, visible }] of document.layout) {
      if (found.length >= limit) return;
      if (!visible || document.type(node) !== elementType || !isUsable(document, node)) continue;
      const seen = intersect([box[0] + place.x, box[1] + place.y, box[2], box[3]], place.seen);
      if (seen === undefined) continue;
      const backendId = document.backendId(node);
      found.push({
        bid: `${prefixes[at] ?? ''}${backendId}`,
        backendId,
        tag: document.name(node).slice(0, 100),
        box: [Math.round(seen[0]), Math.round(seen[1]), Math.round(seen[2]), Math.round(seen[3])],
      });
    }
  });
  return found;
}

interface Place {
  /** Offset to add to the document's coordinates. */
  readonly x: number;
  readonly y: number;
  readonly seen: Box;
}

/** Where each document is in the window; a frame is where its element is. */
function placeDocuments(
  documents: readonly PageDocument[],
  { width, height }: { readonly width: number; readonly height: number },
): (Place | undefined)[] {
  const places: (Place | undefined)[] = [];
  documents.forEach((document, at) => {
    if (at === 0) places[0] = { x: -document.scroll.x, y: -document.scroll.y, seen: [0, 0, width, height] };
    const place = places[at];
    if (place === undefined) return;
    for (const [node, inner] of document.contents) {
      const layout = document.layout.get(node);
      const target = documents[inner];
      if (layout === undefined || !layout.visible || target === undefined || inner <= at) continue;
      const left = layout.box[0] + layout.border[0] + place.x;
      const top = layout.box[1] + layout.border[1] + place.y;
      const seen = intersect([left, top, layout.box[2], layout.box[3]], place.seen);
      if (seen !== undefined) places[inner] = { x: left - target.scroll.x, y: top - target.scroll.y, seen };
    }
  });
  return places;
}

function intersect(one: Box, other: Box): Box | undefined {
  const left = Math.max(one[0], other[0]);
  const top = Math.max(one[1], other[1]);
  const width = Math.min(one[0] + one[2], other[0] + other[2]) - left;
  const height = Math.min(one[1] + one[3], other[1] + other[3]) - top;
  return width > 0 && height > 0 && width * height >= leastArea ? [left, top, width, height] : undefined;
}

function isUsable(document: PageDocument, node: number): boolean {
  const name = document.name(node);
  if (name === 'html' || name === 'body') return false;
  if (usableTags.has(name)) return document.attribute(node, 'type') !== 'hidden';
  if (name === 'a') return document.attribute(node, 'href') !== undefined || document.clickable.has(node);
  if (usableRoles.test(document.attribute(node, 'role') ?? '')) return true;
  const editable = document.attribute(node, 'contenteditable');
  if (editable !== undefined && editable !== 'false') return true;
  if (document.clickable.has(node)) return true;
  // Elements inherit the pointer cursor; the outermost one is the target.
  const pointer = document.layout.get(node)?.cursor === 'pointer';
  return pointer && document.layout.get(document.parent(node))?.cursor !== 'pointer';
}
