/** Turns the Markdown that our pages are written in into HTML. */

/** `link` says where a target of the page leads to in the site. */
export function renderMarkdown(source: string, link: (target: string) => string): string {
  const lines = source.replace(/^<!--[\s\S]*?-->$/gm, '').split('\n');
  return blocks(lines, { link });
}

/** The anchor of a heading, as code hosts make them. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

interface Context {
  readonly link: (target: string) => string;
}

const item = /^(?:-|\d+\.) +/;

function blocks(lines: readonly string[], context: Context): string {
  const out: string[] = [];
  let index = 0;
  /** The lines from here on for which this holds. */
  const take = (holds: (line: string, first: boolean) => boolean): string[] => {
    const from = index;
    while (index < lines.length && holds(lines[index] ?? '', index === from)) index++;
    return lines.slice(from, index);
  };
  while (index < lines.length) {
    const line = lines[index] ?? '';
    const [, marks, title = ''] = /^(#+) (.*)$/.exec(line) ?? [];
    if (line.trim() === '') index++;
    else if (marks !== undefined) {
      index++;
      out.push(heading(marks.length, title, context));
    } else if (line.startsWith('```')) {
      const [, ...code] = take((next, first) => first || !next.startsWith('```'));
      index++;
      out.push(`<pre tabindex="0"><code>${escapeHtml(code.join('\n'))}</code></pre>`);
    } else if (line.startsWith('|'))
      out.push(
        table(
          take((next) => next.startsWith('|')),
          context,
        ),
      );
    else if (item.test(line)) {
      // What is indented belongs to the item, also after an empty line.
      const isPart = (next: string) =>
        /^\s/.test(next) || item.test(next) || (next !== '' && !startsBlock(next));
      out.push(
        list(
          take((next) => (next === '' ? continues(lines, index) : isPart(next))),
          context,
        ),
      );
    } else {
      const text = take((next, first) => next.trim() !== '' && (first || !startsBlock(next)));
      out.push(`<p>${inline(text.join(' '), context)}</p>`);
    }
  }
  return out.join('\n');
}

function startsBlock(line: string): boolean {
  return /^(#+ |```|\|)/.test(line) || item.test(line);
}

/** Whether a list goes on behind this empty line. */
function continues(lines: readonly string[], index: number): boolean {
  const next = lines.slice(index).find((line) => line !== '') ?? '';
  return /^\s/.test(next) || item.test(next);
}

function heading(level: number, text: string, context: Context): string {
  return `<h${level} id="${slug(text)}">${inline(text, context)}</h${level}>`;
}

function table(lines: readonly string[], context: Context): string {
  const rows = lines.map((line) =>
    line
      .replace(/^\|\s*|\s*\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll('\\|', '|'), context)),
  );
  const [head = [], , ...body] = rows;
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="wide" tabindex="0"><table><thead>${row(head, 'th')}</thead><tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`;
}

function list(lines: readonly string[], context: Context): string {
  const items: string[][] = [];
  for (const line of lines) {
    if (item.test(line)) items.push([line.replace(item, '')]);
    else items.at(-1)?.push(line);
  }
  const tag = /^\d/.test(lines[0] ?? '') ? 'ol' : 'ul';
  const html = items.map((part) => `<li>${itemHtml(part, context)}</li>`);
  return `<${tag}>${html.join('')}</${tag}>`;
}

/** An item of one paragraph has no paragraph of its own. */
function itemHtml(lines: readonly string[], context: Context): string {
  const html = blocks(
    lines.map((line) => line.replace(/^ {2,3}/, '')),
    context,
  );
  return html.replace(/^<p>([\s\S]*?)<\/p>/, '$1');
}

/** Sets code aside first, because nothing within it has a meaning. */
function inline(text: string, { link }: Context): string {
  const code: string[] = [];
  const marked = text.replace(/``.+?``|`[^`]+`/g, (part) => {
    code.push(`<code>${escapeHtml(part.replace(/^`+ ?| ?`+$/g, ''))}</code>`);
    return `\u0000${code.length - 1}\u0000`;
  });
  return escapeHtml(marked)
    .replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (_, words: string, target: string) => {
      return `<img src="${link(target)}" alt="${words}" loading="lazy">`;
    })
    .replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, words: string, target: string) => {
      return `<a href="${link(target)}">${words}</a>`;
    })
    .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>')
    .replace(/\u0000(\d+)\u0000/g, (_, index: string) => code[Number(index)] ?? '');
}

/** A text without its marks. */
export function plain(text: string): string {
  return text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
}
