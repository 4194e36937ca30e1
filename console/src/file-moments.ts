/** What was in a file at a moment, as far as the record tells: its last whole content, and the edits behind that. */
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

/** The entries that decide what is in a file, from the last that has all of it. */
export function decisive(entries: readonly Entry[], path: string, until: number): readonly Entry[] {
  const those = entries.filter(
    ({ id, outcome, action }) =>
      outcome === 'ok' && id <= until && [action?.path, action?.from, action?.to].includes(path),
  );
  const from = those.findLastIndex((entry) => hasAll(entry, path));
  return those.slice(Math.max(0, from));
}

function hasAll({ name, action = {}, observation = {} }: Entry, path: string): boolean {
  if (name === 'write') return action.append !== true;
  if (name === 'read') return isWhole(action, observation);
  return name === 'remove' || action.from === path || action.to === path;
}

/** `steps`: whole entries as `decisive` chooses them. */
export function fileAfter(steps: readonly Step[], path: string): FileMoment {
  return steps.reduce<FileMoment>((before, step) => after(before, step, path), never);
}

function after(before: FileMoment, { name, action, observation }: Step, path: string): FileMoment {
  if (name === 'remove' || (name === 'move' && action.from === path)) return { unknown: 'It is gone.' };
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
  if (action.to === path || name === 'upload')
    return { unknown: `The record has no content of this ${name}.` };
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
      made.push(...old.slice(at, first));
      at = first;
      inside = true;
    } else if (!inside || line.startsWith('\\')) continue;
    else if (line.startsWith('+')) made.push(line.slice(1));
    else if (old[at] !== line.slice(1)) return undefined;
    else {
      if (line.startsWith(' ')) made.push(line.slice(1));
      at++;
    }
  }
  return inside ? [...made, ...old.slice(at)].join('\n') : undefined;
}
