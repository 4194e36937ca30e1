/** What was in a file at a moment, as far as the record tells: its last whole content, and the edits behind that. */
import { plainPath } from './plain-path.js';
import type { Entry } from './timeline.js';

export type FileMoment =
  | { readonly content: string }
  /** Why the record does not tell. */
  | { readonly unknown: string };

type Fields = Readonly<Record<string, unknown>>;

export interface Step extends Pick<Entry, 'name'> {
  readonly action: Fields;
  readonly observation: Fields;
}

const never: FileMoment = { unknown: 'Until this moment no action wrote or read the whole file.' };

/** Edits behind the last whole content that a page reads the whole texts of. */
export const mostSteps = 200;

/** A file of a record. */
export interface FilePlace {
  readonly path: string;
  /** The workspace, where it is known: paths from there and from the root are the same then. */
  readonly root?: string | undefined;
}

type Is = (named: unknown) => boolean;

function isOf({ path, root }: FilePlace): Is {
  const plain = plainPath(path, root);
  return (named) => typeof named === 'string' && plainPath(named, root) === plain;
}

/** The entries that decide what is in a file, from the last that has all of it. */
export function decisive(entries: readonly Entry[], file: FilePlace, until: number): readonly Entry[] {
  const is = isOf(file);
  const those = entries.filter(
    ({ id, outcome, action }) =>
      outcome === 'ok' && id <= until && [action?.path, action?.from, action?.to].some(is),
  );
  const from = those.findLastIndex((entry) => hasAll(entry, is));
  return those.slice(Math.max(0, from));
}

function hasAll({ name, action = {}, observation = {} }: Entry, is: Is): boolean {
  if (name === 'write') return action.append !== true;
  if (name === 'read') return isWhole(action, observation);
  return name === 'remove' || is(action.from) || is(action.to);
}

/** `steps`: whole entries as `decisive` chooses them. */
export function fileAfter(steps: readonly Step[], file: FilePlace): FileMoment {
  const is = isOf(file);
  return steps.reduce<FileMoment>((before, step) => after(before, step, is), never);
}

function after(before: FileMoment, { name, action, observation }: Step, is: Is): FileMoment {
  if (name === 'remove' || (name === 'move' && is(action.from))) return { unknown: 'It is gone.' };
  if (name === 'read') {
    if (!isWhole(action, observation)) return before;
    return observation.encoding === 'utf8' && typeof observation.content === 'string'
      ? { content: observation.content }
      : { unknown: 'It is not text.' };
  }
  if (name === 'write') {
    const { content, encoding = 'utf8', append } = action;
    if (encoding !== 'utf8' || typeof content !== 'string') return { unknown: 'It is not text.' };
    if (append !== true) return { content };
    return 'content' in before ? { content: before.content + content } : before;
  }
  if (name === 'edit') {
    if (!('content' in before)) return before;
    const content = patched(before.content, String(observation.diff ?? ''));
    if (content !== undefined) return { content };
    return { unknown: 'A command changed it before it was edited, and the record does not have that.' };
  }
  if (is(action.to) || name === 'upload') return { unknown: `The record has no content of this ${name}.` };
  return before;
}

function isWhole(action: Fields, observation: Fields): boolean {
  return (
    action.startLine === undefined && action.endLine === undefined && observation.startLine === undefined
  );
}

/** Applies a unified diff; undefined where it does not fit. */
export function patched(text: string, diff: string): string | undefined {
  const old = text.split('\n');
  const made: string[] = [];
  let at = 0;
  let inside = false;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    if (hunk !== null) {
      // A hunk without old lines stands behind the line that it names.
      const first = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      if (first < at || first > old.length) return undefined;
      // One by one: a call takes only so many arguments.
      for (; at < first; at++) made.push(old[at] as string);
      inside = true;
    } else if (!inside || line.startsWith('\\')) continue;
    else if (line.startsWith('+')) made.push(line.slice(1));
    else if (old[at] !== line.slice(1)) return undefined;
    else {
      if (line.startsWith(' ')) made.push(line.slice(1));
      at++;
    }
  }
  return inside ? made.concat(old.slice(at)).join('\n') : undefined;
}
