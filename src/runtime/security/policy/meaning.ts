/** What an action means in its cell: with other variables, functions or scripts the same words are another action. */
import { createHash } from 'node:crypto';
import type { Unfolded } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext } from '../analyzers/analyzer.js';
import { canonical } from './ask-confirmation.js';

export function meaningOf(unfolded: Unfolded, { cwd, workspace }: AnalyzeContext): string {
  const { sources, paths, addresses, tools, findings } = unfolded;
  // Each command by itself: those that feed one another are in the list, and nested they can be without end.
  const commands = unfolded.commands.map(({ program, path, args, redirects, input, ...rest }) => {
    const { variables, elevated, cwd: place } = rest;
    const { text, file } = input;
    return { program, path, args, redirects, text, file, variables, elevated, place };
  });
  const { risk, reasons } = findings.verdict();
  const meaning = { commands, sources, paths, addresses, tools, risk, reasons, known: unfolded.known() };
  // A shell that starts begins in the workspace, and the rules read one that told nothing yet as there, too.
  const where = cwd === undefined || cwd === null || cwd === workspace ? '.' : cwd;
  return createHash('sha256').update(canonical({ meaning, where })).digest('hex');
}
