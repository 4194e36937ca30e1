/** What a reader sees of a page, as Markdown. */
import { type PageDocument, textType } from './snapshot.js';

export interface Text {
  readonly text: string;
  readonly truncated: boolean;
}

const inlineDisplays = new Set([
  '',
  'inline',
  'inline-block',
  'inline-flex',
  'inline-grid',
  'contents',
  'ruby',
]);

interface Visit {
  readonly document: PageDocument;
  readonly node: number;
  readonly leaving: boolean;
}

export function readableText(documents: readonly PageDocument[], limit: number): Text {
  const [page] = documents;
  if (page === undefined) return { text: '', truncated: false };
  const out = new Writer();
  // An explicit stack instead of recursion: a page can nest deeper than calls can.
  const visits: Visit[] = [{ document: page, node: 0, leaving: false }];
  for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
    const { document, node, leaving } = visit;
    if (out.length > limit) return { text: out.toString().slice(0, limit), truncated: true };
    if (leaving) {
      leave(out, document, node);
      continue;
    }
    if (document.type(node) === textType) {
      if (document.layout.get(node)?.visible) out.words(document.value(node));
      continue;
    }
    enter(out, document, node);
    visits.push({ document, node, leaving: true });
    const inner = documents[document.contents.get(node) ?? -1];
    if (inner !== undefined && inner !== page) visits.push({ document: inner, node: 0, leaving: false });
    const children = document.children[node] ?? [];
    for (let at = children.length - 1; at >= 0; at--)
      visits.push({ document, node: children[at] as number, leaving: false });
  }
  const text = out.toString();
  return { text: text.slice(0, limit), truncated: text.length > limit };
}

function enter(out: Writer, document: PageDocument, node: number): void {
  const layout = document.layout.get(node);
  if (layout === undefined) return;
  const name = document.name(node);
  if (layout.display === 'table-cell') out.cell();
  else if (name === 'br') out.line();
  else if (!inlineDisplays.has(layout.display)) out.block();
  if (/^h[1-6]$/.test(name)) out.mark(`${'#'.repeat(Number(name[1]))} `);
  else if (name === 'li') out.mark('- ');
  else if (name === 'a' && document.attribute(node, 'href') !== undefined) out.open('[');
  else if (name === 'img') {
    const alternative = document.attribute(node, 'alt');
    if (alternative) out.words(`![${alternative}]`);
  }
}

function leave(out: Writer, document: PageDocument, node: number): void {
  const layout = document.layout.get(node);
  if (layout === undefined) return;
  if (document.name(node) === 'a') {
    const target = document.attribute(node, 'href');
    if (target !== undefined) out.close(`](${target.slice(0, 2000)})`);
  }
  if (!inlineDisplays.has(layout.display) && layout.display !== 'table-cell') out.block();
}

/** Joins words as a page does: white space is one blank, blocks are on separate lines. */
class Writer {
  #pieces: string[] = [];
  #mark = '';
  #blank = false;
  length = 0;

  words(text: string): void {
    const words = text.replace(/[\s\u00a0]+/g, ' ');
    if (words === ' ' || words === '') {
      this.#blank ||= words !== '';
      return;
    }
    if (words.startsWith(' ')) this.#blank = true;
    this.#put(words.trim());
    this.#blank = words.endsWith(' ');
  }

  /** Before a link. Writes nothing if nothing follows. */
  open(text: string): void {
    this.#put(text);
    this.#blank = false;
  }

  close(text: string): void {
    if (this.#pieces.at(-1) === '[') {
      this.length -= this.#pieces.pop()?.length ?? 0;
      return;
    }
    this.#pieces.push(text);
    this.length += text.length;
  }

  mark(text: string): void {
    this.#mark = text;
  }

  cell(): void {
    if (this.#pieces.length > 0 && this.#pieces.at(-1) !== '\n') this.#pieces.push(' | ');
    this.#blank = false;
  }

  block(): void {
    this.#blank = false;
    this.#mark = '';
    if (this.#pieces.length > 0 && this.#pieces.at(-1) !== '\n') this.#push('\n');
  }

  line(): void {
    this.#blank = false;
    this.#push('\n');
  }

  toString(): string {
    return this.#pieces
      .join('')
      .replace(/(?: \| )+(?=\n|$)/g, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  #put(text: string): void {
    if (this.#mark !== '') {
      this.#push(this.#mark);
      this.#mark = '';
      this.#blank = false;
    }
    const last = this.#pieces.at(-1);
    if (this.#blank && last !== undefined && last !== '\n' && last !== '[') this.#push(' ');
    this.#blank = false;
    this.#push(text);
  }

  #push(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }
}
