/** Which commands get a secret. */
import type { JudgedAction } from '../analyzers/analyzer.js';
import { commandsOf } from '../analyzers/rules.js';

/** Commands that may stand beside a chosen one, because they send nothing anywhere. */
const neutral = new Set([
  'cd',
  ':',
  'true',
  'false',
  'test',
  '[',
  'set',
  'exit',
  'export',
  'head',
  'tail',
  'wc',
  'grep',
  'jq',
  'sort',
  'sleep',
  'pwd',
  'mkdir',
]);

/** By name: the source mentions it. By `commands`: every command in the line is a chosen one or sends nothing. */
export function mayReceive(
  name: string,
  commands: readonly string[] | undefined,
  action: JudgedAction,
): boolean {
  if (commands === undefined) return mentions(name, action);
  const found = commandsOf(action);
  if (found === undefined || !found.complete) return false;
  const expressions = commands.map(
    (glob) =>
      new RegExp(
        `^${glob
          .replace(/[.+^${}()|[\]\\]/g, '\\$&')
          .replaceAll('*', '.*')
          .replaceAll('?', '.')}$`,
        's',
      ),
  );
  const texts = found.commands.map(({ program, path, args }) => ({
    program,
    text: [path, ...args].join(' '),
  }));
  const chosen = texts.filter(({ text }) => expressions.some((expression) => expression.test(text)));
  return chosen.length > 0 && texts.every((entry) => chosen.includes(entry) || neutral.has(entry.program));
}

function mentions(name: string, { command, argv }: JudgedAction): boolean {
  const words = Array.isArray(argv) ? argv.map(String) : [typeof command === 'string' ? command : ''];
  const expression = new RegExp(`(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])`);
  return words.some((word) => expression.test(word));
}
