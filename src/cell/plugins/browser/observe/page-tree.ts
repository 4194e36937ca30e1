/** The accessibility tree of a page as text, the form that agents read. */
import * as z from 'zod';
import type { PageDocument } from './snapshot.js';

const value = z.object({ value: z.unknown().optional() }).optional();

const nodesSchema = z.object({
  nodes: z.array(
    z.object({
      nodeId: z.string(),
      ignored: z.boolean().default(false),
      role: value,
      name: value,
      value: value,
      properties: z.array(z.object({ name: z.string(), value })).default([]),
      childIds: z.array(z.string()).default([]),
      backendDOMNodeId: z.int().optional(),
    }),
  ),
});

export type AxNode = z.output<typeof nodesSchema>['nodes'][number];

export function readAxNodes(raw: unknown): AxNode[] {
  return nodesSchema.parse(raw).nodes;
}

/** Not worth a word to a reader. */
const silent = new Set(['none', 'InlineTextBox', 'LineBreak', 'LayoutTable', 'ListMarker']);
const unspoken = new Set([
  'editable',
  'readonly',
  'level',
  'settable',
  'multiline',
  'invalid',
  'focusable',
  'focused',
]);
const longestValue = 1000;
const deepestIndent = 50;

export interface TreeParts {
  readonly documents: readonly PageDocument[];
  readonly prefixes: readonly string[];
  /** The nodes of each document's tree. */
  readonly nodes: readonly (readonly AxNode[])[];
}

export interface Tree {
  readonly text: string;
  readonly truncated: boolean;
  readonly focused: string | null;
  /** Role and name of elements, by Chromium's id. */
  readonly spoken: ReadonlyMap<number, { role: string; name: string }>;
}

interface Visit {
  readonly at: number;
  readonly node: AxNode;
  readonly depth: number;
  readonly above: string;
}

export function renderTree({ documents, prefixes, nodes }: TreeParts, limit: number): Tree {
  const spoken = new Map<number, { role: string; name: string }>();
  const trees = nodes.map((list) => new Map(list.map((node) => [node.nodeId, node])));
  const facts = documents.map(elementFacts);
  const lines: string[] = [];
  let length = 0;
  let focused: string | null = null;
  const root = nodes[0]?.[0];
  const visits: Visit[] = root === undefined ? [] : [{ at: 0, node: root, depth: 0, above: '' }];
  const seen = new Set<AxNode>();
  for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
    const { at, node, depth, above } = visit;
    // A tree with a cycle is no tree; do not show a node twice.
    if (seen.has(node)) continue;
    seen.add(node);
    const role = textOf(node.role);
    const name = textOf(node.name).replace(/\s+/g, ' ').trim();
    const element = facts[at]?.get(node.backendDOMNodeId ?? -1);
    const bid = element === undefined ? undefined : `${prefixes[at] ?? ''}${node.backendDOMNodeId}`;
    if (element !== undefined && node.backendDOMNodeId !== undefined)
      spoken.set(node.backendDOMNodeId, { role, name });
    const attributes = attributesOf(node, element?.clickable ?? false);
    if (hasFocus(node) && bid !== undefined && role !== 'Iframe' && role !== 'RootWebArea') focused = bid;
    const shown = isShown(node, role, name, above, attributes.length > 0);
    if (shown) {
      const head = bid === undefined ? role : `[${bid}] ${role}`;
      const content = textOf(node.value);
      const said = content === '' ? quoted(name) : `${quoted(name)} value=${quoted(content)}`;
      const line = [`${'\t'.repeat(Math.min(depth, deepestIndent))}${head} ${said}`, ...attributes].join(
        ', ',
      );
      lines.push(line);
      length += line.length + 1;
      if (length > limit) return { text: lines.join('\n').slice(0, limit), truncated: true, focused, spoken };
    }
    const below = shown ? depth + 1 : depth;
    const inner = documents.length > 1 && role === 'Iframe' ? innerOf(documents, at, node) : undefined;
    const innerRoot = inner === undefined ? undefined : nodes[inner]?.[0];
    if (inner !== undefined && innerRoot !== undefined)
      visits.push({ at: inner, node: innerRoot, depth: below, above: '' });
    for (let child = node.childIds.length - 1; child >= 0; child--) {
      const next = trees[at]?.get(node.childIds[child] as string);
      if (next !== undefined) visits.push({ at, node: next, depth: below, above: name || above });
    }
  }
  return { text: lines.join('\n'), truncated: false, focused, spoken };
}

function isShown(node: AxNode, role: string, name: string, above: string, said: boolean): boolean {
  if (node.ignored || silent.has(role)) return false;
  if (role === 'StaticText') return name !== '' && name !== above;
  if (role === 'generic' || role === 'paragraph' || role === 'div') return name !== '' || said;
  return true;
}

function attributesOf(node: AxNode, clickable: boolean): string[] {
  const attributes = clickable ? ['clickable'] : [];
  for (const { name, value } of node.properties) {
    const content = value?.value;
    if (name === 'focused' && content === true) attributes.push('focused');
    if (unspoken.has(name) || content === undefined || content === false || content === '') continue;
    if (content === true) attributes.push(name);
    else if (typeof content === 'string' || typeof content === 'number')
      attributes.push(`${name}=${quoted(String(content))}`);
  }
  return attributes;
}

function hasFocus(node: AxNode): boolean {
  return node.properties.some(({ name, value }) => name === 'focused' && value?.value === true);
}

/** Which document a frame's element shows. */
function innerOf(documents: readonly PageDocument[], at: number, node: AxNode): number | undefined {
  const document = documents[at];
  for (const [element, inner] of document?.contents ?? []) {
    if (document?.backendId(element) === node.backendDOMNodeId && inner > at) return inner;
  }
  return undefined;
}

function elementFacts(document: PageDocument): Map<number, { clickable: boolean }> {
  const facts = new Map<number, { clickable: boolean }>();
  for (let node = 0; node < document.length; node++) {
    if (document.type(node) === 1)
      facts.set(document.backendId(node), { clickable: document.clickable.has(node) });
  }
  return facts;
}

function textOf(holder: { value?: unknown } | undefined): string {
  const content = holder?.value;
  return typeof content === 'string' || typeof content === 'number' ? String(content) : '';
}

function quoted(text: string): string {
  const short = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
  return `'${short.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;
}
