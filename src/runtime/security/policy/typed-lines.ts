/** Remembers unfinished input to running programs, to judge pieces that belong together as one. */
import { parse } from 'unbash';
import { type Carried, describeAction } from '../../../protocol/index.js';
import { definitionOf } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction } from '../analyzers/analyzer.js';

interface Typed {
  readonly target: string;
  /** Typed before, and part of the same line or statement. */
  readonly pending: string;
  readonly text: string;
}

const mostTargets = 4096;
/** Longer than what the rules read, so that they report an endless line as too long. */
const longestLine = 1_000_100;
/** How much to keep of text that does not end as shell source; usually it is another language. */
const longestOpen = 4096;

export class TypedLines {
  readonly #pending = new Map<string, string>();

  /** Undefined when the action types nothing. */
  before(action: JudgedAction, context: AnalyzeContext): Typed | undefined {
    const definition = definitionOf(action, context);
    const carried = describeAction(definition, action).filter(
      (item): item is Extract<Carried, { kind: 'input' }> => item.kind === 'input',
    );
    const [first] = carried;
    if (first === undefined) return undefined;
    const target = `${action.action} ${first.target ?? ''}`;
    return {
      target,
      pending: this.#pending.get(target) ?? '',
      text: carried.map(({ text }) => text).join(''),
    };
  }

  after({ target, pending, text }: Typed): void {
    const rest = unfinished(pending + text);
    this.#pending.delete(target);
    if (rest !== '') this.#pending.set(target, rest);
    if (this.#pending.size > mostTargets) this.#pending.delete(this.#pending.keys().next().value ?? '');
  }
}

function unfinished(text: string): string {
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  const open = text.slice(end + 1);
  if (end === -1) return open.slice(-longestLine);
  const ended = text.slice(Math.max(0, end + 1 - longestOpen), end + 1);
  const goesOn = /\\\r?\n$/.test(ended) || (parse(ended).errors?.length ?? 0) > 0;
  return goesOn ? ended + open.slice(-longestLine) : open.slice(-longestLine);
}
