/**
 * The content of a page, as Chromium reports it without running anything in the page. We check it, because a page may
 * lie.
 */
import * as z from 'zod';

const index = z.int().min(-1);
const sparse = z.object({ index: z.array(index), value: z.array(index) }).optional();
const box = z.array(z.number()).length(4);

const documentSchema = z.object({
  frameId: index,
  scrollOffsetX: z.number().default(0),
  scrollOffsetY: z.number().default(0),
  nodes: z.object({
    parentIndex: z.array(index),
    nodeType: z.array(z.int()),
    nodeName: z.array(index),
    nodeValue: z.array(index),
    backendNodeId: z.array(z.int()),
    attributes: z.array(z.array(index)),
    inputValue: sparse,
    contentDocumentIndex: sparse,
    isClickable: z.object({ index: z.array(index) }).optional(),
  }),
  layout: z.object({
    nodeIndex: z.array(index),
    styles: z.array(z.array(index)),
    bounds: z.array(box),
    /** Width of the left and top border and the size within them; empty for a node without a box. */
    clientRects: z.array(z.array(z.number())).default([]),
  }),
});

const snapshotSchema = z.object({ documents: z.array(documentSchema), strings: z.array(z.string()) });

/** In this order among the styles of each node. */
export const wantedStyles = ['display', 'visibility', 'cursor'];

export type Box = readonly [left: number, top: number, width: number, height: number];

interface Layout {
  readonly display: string;
  readonly visible: boolean;
  readonly cursor: string;
  /** In its document's own coordinates. */
  readonly box: Box;
  /** How far inside its box an element's content begins. */
  readonly border: readonly [left: number, top: number];
}

export const elementType = 1;
export const textType = 3;

/** One document of a page: the page itself, or the content of a frame. */
export class PageDocument {
  readonly frameId: string;
  readonly scroll: { readonly x: number; readonly y: number };
  readonly children: readonly (readonly number[])[];
  /** The document that a frame shows, by the number of its node. */
  readonly contents: ReadonlyMap<number, number>;
  readonly clickable: ReadonlySet<number>;
  readonly layout: ReadonlyMap<number, Layout>;
  readonly #nodes: z.output<typeof documentSchema>['nodes'];
  readonly #strings: readonly string[];

  constructor(raw: z.output<typeof documentSchema>, strings: readonly string[]) {
    const { nodes, layout } = raw;
    this.#nodes = nodes;
    this.#strings = strings;
    this.frameId = strings[raw.frameId] ?? '';
    this.scroll = { x: raw.scrollOffsetX, y: raw.scrollOffsetY };
    const children: number[][] = nodes.parentIndex.map(() => []);
    nodes.parentIndex.forEach((parent, node) => {
      // Accept only parents that stand before their children, so that no walk can go round in circles.
      if (parent >= 0 && parent < node) children[parent]?.push(node);
    });
    this.children = children;
    const { index: frames = [], value: documents = [] } = nodes.contentDocumentIndex ?? {};
    this.contents = new Map(frames.map((node, position) => [node, documents[position] ?? -1]));
    this.clickable = new Set(nodes.isClickable?.index);
    this.layout = new Map(
      layout.nodeIndex.map((node, position) => {
        const [display, visibility, cursor] = layout.styles[position] ?? [];
        return [
          node,
          {
            display: this.#text(display),
            visible: this.#text(visibility) !== 'hidden',
            cursor: this.#text(cursor),
            box: (layout.bounds[position] ?? [0, 0, 0, 0]) as unknown as Box,
            border: [layout.clientRects[position]?.[0] ?? 0, layout.clientRects[position]?.[1] ?? 0] as const,
          },
        ];
      }),
    );
  }

  get length(): number {
    return this.#nodes.parentIndex.length;
  }

  type(node: number): number {
    return this.#nodes.nodeType[node] ?? 0;
  }

  parent(node: number): number {
    return this.#nodes.parentIndex[node] ?? -1;
  }

  /** DevTools' id of the node, unique in its process. */
  backendId(node: number): number {
    return this.#nodes.backendNodeId[node] ?? 0;
  }

  /** In lower case. */
  name(node: number): string {
    return this.#text(this.#nodes.nodeName[node]).toLowerCase();
  }

  value(node: number): string {
    return this.#text(this.#nodes.nodeValue[node]);
  }

  attribute(node: number, name: string): string | undefined {
    const attributes = this.#nodes.attributes[node] ?? [];
    for (let at = 0; at + 1 < attributes.length; at += 2) {
      if (this.#text(attributes[at]) === name) return this.#text(attributes[at + 1]);
    }
    return undefined;
  }

  #text(position: number | undefined): string {
    return this.#strings[position ?? -1] ?? '';
  }
}

/** The documents of a page; the first is the page itself. */
export function readSnapshot(raw: unknown): PageDocument[] {
  const { documents, strings } = snapshotSchema.parse(raw);
  return documents.map((document) => new PageDocument(document, strings));
}
