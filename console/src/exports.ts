/** A record in forms that other programs open. */
import type { WorkcellEvent } from '../../src/protocol/events.js';
import { type Entry, Timeline } from './timeline.js';
import { visible } from './visible.js';

/**
 * The commands of a record and what they printed, for players of asciicast version 2. The record has an output at its end
 * and marks of how much there was before, so each part of it comes at the moment of its mark.
 */
export function asciicast(events: readonly WorkcellEvent[]): string {
  const first = events[0]?.at ?? 0;
  const head = { version: 2, width: 120, height: 40, timestamp: Math.floor(first / 1000) };
  const printed: { at: number; text: string }[] = [];
  const print = (at: number, text: string) => printed.push({ at, text });
  const commands = new Map<number, Mark[]>();
  for (const event of events) {
    if (event.kind === 'action' && typeof event.action.command === 'string') {
      commands.set(event.id, []);
      print(event.at, `$ ${event.action.command}\n`);
      continue;
    }
    const marks = 'cause' in event ? commands.get(event.cause) : undefined;
    if (marks === undefined) continue;
    if (event.kind === 'progress') marks.push({ at: event.at, bytes: event.progress.outputBytes });
    else if (event.kind === 'observation') {
      const { output, truncated } = event.observation;
      if (typeof output === 'string' && output !== '') printInParts(output, marks, event.at, print);
      if (truncated === true) print(event.at, '[The record has the head and the tail of this output.]\n');
    } else if (event.kind === 'error') print(event.at, `${event.error.message}\n`);
  }
  const lines = printed
    .toSorted((left, right) => left.at - right.at)
    .map(({ at, text }) => [Math.max(0, (at - first) / 1000), 'o', text.replace(/\r?\n/g, '\r\n')]);
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

interface Mark {
  readonly at: number;
  /** How much the command had printed, with what a terminal does not show. */
  readonly bytes: number;
}

/** Whole lines, as many as the share of the bytes that were there at each mark. */
function printInParts(
  output: string,
  marks: readonly Mark[],
  end: number,
  print: (at: number, text: string) => void,
): void {
  const total = Math.max(output.length, ...marks.slice(-1).map(({ bytes }) => bytes));
  let from = 0;
  // Each part is looked through once, also when no line ends in it.
  let seen = 0;
  for (const { at, bytes } of marks) {
    const until = Math.floor((output.length * bytes) / total);
    if (until <= seen) continue;
    const to = seen + output.slice(seen, until).lastIndexOf('\n') + 1;
    const isFound = to > seen;
    seen = until;
    if (!isFound) continue;
    print(at, output.slice(from, to));
    from = to;
  }
  const rest = output.slice(from);
  if (rest !== '') print(end, rest.endsWith('\n') ? rest : `${rest}\n`);
}

/** One page without scripts. Its own policy keeps it so, whatever the record has in it. */
export function htmlPage(id: string, events: readonly WorkcellEvent[]): string {
  const timeline = new Timeline();
  timeline.push(events);
  const began = new Date(events[0]?.at ?? 0).toISOString();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(id)}</title>
<style>${pageStyle}</style>
</head>
<body>
<h1>${escaped(id)}</h1>
<p>${events.length} events, from ${escaped(began)}</p>
${timeline.entries.map(entryHtml).join('\n')}
</body>
</html>
`;
}

function entryHtml(entry: Entry): string {
  const { at, name, title, outcome, ending = '', action, observation, error, facts, decision } = entry;
  const time = new Date(at).toISOString().slice(11, 19);
  const parts = Object.entries({ action, decision, observation, error, facts })
    .filter(([, part]) => part !== undefined)
    .map(([word, part]) => `<h2>${word}</h2><pre>${escaped(inLines(part as object))}</pre>`);
  return `<details class="${outcome}"><summary><time>${time}</time> <b>${escaped(name)}</b> <code>${escaped(title)}</code> <i>${escaped(ending)}</i></summary>${parts.join('')}</details>`;
}

/** Texts as they are, not as JSON writes them. */
function inLines(part: object): string {
  return Object.entries(part)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`;
    })
    .join('\n');
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return visible(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const pageStyle = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.2rem; } h2 { font-size: .85rem; margin: .6rem 0 .2rem; opacity: .7; }
details { border-top: 1px solid #8884; padding: .25rem 0; } summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
time, i { opacity: .7; font-variant-numeric: tabular-nums; } pre, code { font-family: ui-monospace, monospace; font-size: 12px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .5rem; border-radius: .3rem; margin: 0; }
.failed summary b, .denied summary b { color: #d1242f; } .failed i, .denied i { color: #d1242f; opacity: 1; }
`;
