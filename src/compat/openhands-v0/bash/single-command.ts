/** Tells whether a text is one command or several. */
import { parse } from 'unbash';

/**
 * The commands of a text, separated by line ends. Commands joined by `;`, `&&` or `|`, and loops, here-documents or
 * quotes of several lines, are one. A text that does not parse counts as one, too: the shell reports the problem.
 */
export function splitCommands(text: string): string[] {
  const { commands, errors } = parse(text);
  if (errors !== undefined && errors.length > 0) return [text];
  const starts: number[] = [];
  let end = 0;
  for (const command of commands) {
    const gap = text.slice(end, command.pos).replaceAll('\\\n', '');
    if (starts.length === 0 || gap.includes('\n')) starts.push(command.pos);
    end = command.end;
  }
  return starts.map((start, index) => text.slice(start, starts[index + 1]).trim());
}
