/** Finds mistakes of form that a change brings, with the tools that the cell has. */
import { extname } from 'node:path';
import { inTurns } from '../../../base/pace.js';
import { programText } from '../../../base/program-text.js';
import { type Executor, WorkcellError } from '../../../protocol/index.js';
import type { Text } from '../../messages.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { type Hunk, hunksOf } from './diff.js';

export interface Mistake {
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

interface Linter {
  readonly argv: readonly string[];
  /** The mistakes in what it printed, with the groups `line` and `message`. */
  readonly pattern: RegExp;
}

const limitMs = 10_000;
const mostMistakes = 100;
/** Characters of a text that is checked. The record keeps each check with the text that it reads. */
const mostChecked = 256 * 1024;
/** A tool of the cell can print anything, and the patterns look far ahead. */
const mostRead = 8192;

/** Those of the text after the change that the text before it does not have. None in a long text, which nothing checks. */
export async function newMistakes(
  executor: Executor,
  path: string,
  before: string,
  after: string,
): Promise<Mistake[]> {
  const linters = lintersOf(path);
  if (linters.length === 0 || Math.max(before.length, after.length) > mostChecked) return [];
  const found = await lint(executor, linters, after);
  if (found.length === 0) return [];
  const moved = moves(await inTurns(hunksOf(before, after, 0)));
  const known = (await lint(executor, linters, before)).map(
    ({ line, message }) => `${moved(line)} ${message}`,
  );
  return found.filter(({ line, message }) => !known.includes(`${line} ${message}`));
}

/** What an observation adds about them, if there are any. */
export function describeMistakes(mistakes: readonly Mistake[]): Text[] {
  if (mistakes.length === 0) return [];
  const lines = mistakes.map(({ line, message }) => words('edit.mistake', { line, message }));
  return [words('edit.mistakes', { mistakes: lines })];
}

/** A text is well-formed if any of them says so. */
function lintersOf(path: string): Linter[] {
  const linters = byExtension[extname(path).toLowerCase()];
  return linters === undefined ? [] : linters();
}

const program = (language: string) => (): Linter[] => [
  {
    argv: ['python3', '-I', '-c', programText('lint-program.py', import.meta.url), language],
    pattern: /^(?<line>\d+): (?<message>.*)$/gm,
  },
];

const nodePattern = /^\[stdin\]:(?<line>\d+)\n[\s\S]*?^(?<message>\w*Error: .*)$/gm;
const script: Linter = { argv: ['node', '--check', '-'], pattern: nodePattern };
const module: Linter = { argv: ['node', '--check', '--input-type=module', '-'], pattern: nodePattern };
const bash: Linter = { argv: ['bash', '-n'], pattern: /line (?<line>\d+): (?<message>.*)$/gm };

const byExtension: Readonly<Record<string, () => Linter[]>> = {
  '.py': program('python'),
  '.json': program('json'),
  '.toml': program('toml'),
  '.yaml': program('yaml'),
  '.yml': program('yaml'),
  '.mjs': () => [module],
  '.cjs': () => [script],
  // What a `.js` file is stands elsewhere.
  '.js': () => [script, module],
  '.sh': () => [bash],
  '.bash': () => [bash],
};

async function lint(executor: Executor, linters: readonly Linter[], text: string): Promise<Mistake[]> {
  let found: Mistake[] = [];
  for (const linter of linters) {
    found = await runLinter(executor, linter, text);
    if (found.length === 0) return [];
  }
  return found;
}

/** None where the cell does not have the tool, or the policy refuses it: a check must not fail an edit. */
async function runLinter(executor: Executor, { argv, pattern }: Linter, text: string): Promise<Mistake[]> {
  try {
    const { id } = await perform(executor, {
      action: 'start_process',
      argv: [...argv],
      stdin: text,
      timeoutMs: limitMs,
    });
    const ended = await perform(executor, { action: 'wait_process', id });
    const printed = [ended.stdout, ended.stderr].map((text) => text.slice(0, mostRead)).join('\n');
    const mistakes = printed.matchAll(pattern);
    return Array.from(mistakes, ({ groups = {} }) => ({
      line: Number(groups.line),
      message: groups.message ?? '',
    })).slice(0, mostMistakes);
  } catch (error) {
    if (WorkcellError.isInstance(error)) return [];
    throw error;
  }
}

/** Where a line is after the change; 0 for one that changed. */
function moves(hunks: readonly Hunk[]): (line: number) => number {
  return (line) => {
    let shift = 0;
    for (const { oldStart, oldLines, newLines } of hunks) {
      const end = oldStart + oldLines - 1;
      if (oldLines > 0 && line >= oldStart && line <= end) return 0;
      if (line > end) shift += newLines - oldLines;
    }
    return line + shift;
  };
}
