/** Tells a person, or with `--json` a program, what failed. */
import { CommanderError } from 'commander';
import { plainText } from './sanitize.js';

/** Prints the failure. Returns the exit code for it. */
export async function reportFailure(failure: unknown, json: boolean): Promise<number> {
  const { WorkcellError } = await import('../protocol/errors.js');
  const error = WorkcellError.isInstance(failure) ? failure : toWorkcellError(failure, WorkcellError);
  // A message may quote text from a cell or a file, and that must not control the terminal.
  process.stderr.write(`workcell: ${plainText(error.message)}\n`);
  if (json) process.stdout.write(`${JSON.stringify({ error: error.toJSON() })}\n`);
  return error.exitCode;
}

function toWorkcellError(
  failure: unknown,
  WorkcellError: typeof import('../protocol/errors.js').WorkcellError,
): import('../protocol/errors.js').WorkcellError {
  if (failure instanceof CommanderError) {
    const message = failure.message
      .replace(/^error: /, '')
      .replace(/\n\(Did you mean (.*)\?\)$/, '. Did you mean $1?');
    return new WorkcellError('invalid-action', `${usage(message)} See workcell --help.`);
  }
  const message = failure instanceof Error ? failure.message : String(failure);
  return new WorkcellError('internal', message, { cause: failure });
}

/** What the library says too briefly. */
const clearer: Readonly<Record<string, string>> = {
  '(outputHelp)': 'A command is missing',
  "missing required argument 'cell'": 'Name a cell; "workcell cells" lists those that were kept',
};

function usage(message: string): string {
  const sentence = clearer[message] ?? message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}
