/**
 * Everything the server says in words, in one place. Clients show these texts to a model and do not parse them, except
 * for the tokens at the top.
 */

/** Content of the `error` observation for a file that is not text. */
export const binaryFileToken = 'ERROR_BINARY_FILE';
/** A client that edits by itself makes a new file when the content of an `error` observation has these words. */
const notFoundToken = 'File not found';
/** What the content of a failed editor command starts with. */
export const editorErrorPrefix = 'ERROR:\n';
export const invalidKey = 'Invalid API Key';
export const invalidRequest = 'Invalid request parameters';

const proceed =
  'You may send an empty command to wait for more output, send input with is_input=true, stop it with "C-c", "C-z" or "C-d" (also with is_input=true), or give a larger timeout to the next command.';

export const bash = {
  nothingToFetch: 'ERROR: Nothing is running, so there is no further output to fetch.',
  nothingToTalkTo: 'ERROR: Nothing is running that could take this input.',
  previousOutput: '[This is output of the previous command.]\n',
  completed: (exitCode: number) => `\n[The command ended with exit code ${exitCode}.]`,
  completedAfterKey: (exitCode: number, letter: string) =>
    `\n[CTRL+${letter} was sent; the command ended with exit code ${exitCode}.]`,
  noChange: (seconds: number) =>
    `\n[No new output for ${seconds} seconds; the command still runs. ${proceed}]`,
  timedOut: (seconds: string) =>
    `\n[The command timed out after ${seconds} seconds and still runs. ${proceed}]`,
  refused: (command: string) =>
    `\n[${JSON.stringify(command)} was not executed, because the previous command still runs. ${proceed}]`,
  shellReplaced:
    '\n[The shell ended with this command. The next one runs in a fresh shell, in the same directory but without the variables, functions and options of before.]',
  truncated: '\n[... the middle of this observation is left out because of its length ...]\n',
  severalCommands: (commands: readonly string[]) =>
    [
      'ERROR: Several commands at once are not allowed. Send them one by one, or chain them with && or ;',
      'These were given:',
      ...commands.map((command, index) => `(${index + 1}) ${command}`),
    ].join('\n'),
} as const;

export const files = {
  notFound: (path: string, cwd: string) => `${notFoundToken}: ${path}. The working directory is ${cwd}.`,
  isDirectory: (path: string) => `${path} is a directory; a file is needed.`,
  tooLarge: (path: string) => `${path} is larger than 64 MiB; look at parts of it with a command.`,
  undecodable: (path: string) => `${path} cannot be decoded as UTF-8 text.`,
} as const;

const commandNames = 'view, create, str_replace, insert, undo_edit';

export const editor = {
  relativePath: (path: string, suggestion: string | undefined) =>
    `The path ${path} is not absolute; it must start with "/".${suggestion === undefined ? '' : ` Perhaps you meant ${suggestion}?`}`,
  exists: (path: string) => `${path} exists already; "create" does not overwrite it.`,
  missing: (path: string) => `The path ${path} does not exist. Give one that does.`,
  isDirectory: (path: string) => `${path} is a directory, for which only "view" can be used.`,
  isDocument: (path: string) => `${path} is a document, for which only "view" can be used.`,
  documentView: (path: string) => `${path} is a document, and no converter to text is installed here.`,
  tooLarge: (path: string) => `${path} is larger than 10 MB, which is the limit of this editor.`,
  isBinary: (path: string) => `${path} is a binary file, which this editor cannot show or change.`,
  parentMissing: (path: string) => `The directory of ${path} does not exist; make it first.`,
  missingParameter: (name: string, command: string) => `Parameter \`${name}\` is required for ${command}.`,
  unknownCommand: (command: string) =>
    `Unknown command ${JSON.stringify(command)}. The allowed ones are: ${commandNames}.`,
  invalidParameter: (name: string, value: unknown, why: string) =>
    `Invalid \`${name}\`: ${JSON.stringify(value) ?? String(value)}. ${why}`,
  notAnInteger: 'It must be an integer.',
  notARange: 'It must be a list of two integers.',
  noRangeForDirectory: 'It cannot be used with a directory.',
  rangeStart: (lines: number) => `Its first element must be within the lines of the file: [1, ${lines}].`,
  rangeEnd: (start: number) => `Its second element must be -1 or at least the first one, which is ${start}.`,
  insertLine: (lines: number) => `It must be within [0, ${lines}], the lines of the file.`,
  sameStrings: '`old_str` and `new_str` are the same, so nothing would change.',
  noMatch: (text: string, path: string) =>
    `Nothing was replaced: \`${text}\` is not in ${path} as it is written here.`,
  severalMatches: (text: string, lines: readonly number[]) =>
    `Nothing was replaced: \`${text}\` is there more than once, in lines [${lines.join(', ')}]. Add lines around it until it is unique.`,
  noHistory: (path: string) => `There is no edit of ${path} to undo.`,

  created: (path: string) => `File created at: ${path}`,
  numbered: (what: string, lines: string) =>
    `Here is ${what} with line numbers, as \`cat -n\` shows it:\n${lines}\n`,
  snippetOf: (path: string) => `a part of ${path}`,
  edited: (path: string, shown: string) =>
    `The file ${path} was edited. ${shown}Review the change; edit the file again if it is not as wanted.`,
  undone: (path: string, shown: string) => `The last edit of ${path} was undone. ${shown}`,
  endClamped: (end: number, lines: number) =>
    `NOTE: the range ends at line ${end}, and the file has ${lines} lines; it is shown up to its end.\n`,
  directory: (path: string, entries: readonly string[]) =>
    `Files and directories up to 2 levels below ${path}, without hidden ones:\n${entries.join('\n')}`,
  hiddenEntries: (count: number, path: string) =>
    `\n\n${count} hidden entries of this directory are left out; 'ls -la ${path}' shows them.`,
  clipped: {
    text: '<response clipped><NOTE>Only a part of this file is shown because of its length. Find the line numbers of interest with `grep -n`, then view them with `view_range`.</NOTE>',
    directory:
      '<response clipped><NOTE>Only a part of this directory is shown because of its length. Use `ls -la` in the shell for single directories.</NOTE>',
  },
} as const;

export const browsing = {
  url: (url: string) => `[The page is at ${url}]`,
  focused: (bid: string | null) =>
    bid === null ? '[No element has the focus.]' : `[The element with the focus is ${bid}]`,
  screenshot: (path: string) => `[A picture of it lies at ${path}]`,
  succeeded: '[The action was done.]',
  failed: (error: string) => `[The action failed: ${error}]`,
  downloaded: (path: string) => `The browser saved a file as ${path}`,
  textBegins: '[--- text of the page ---]',
  textEnds: '[--- end of the text ---]',
  treeBegins: '[--- accessibility tree ---]',
  treeEnds: '[--- end of the tree ---]',
} as const;

export const disabled = {
  browser: 'The browser is not available in this server.',
  llmEdit: 'Edits by a language model are made by the client; this server does "oh_aci" edits only.',
} as const;

export const rejected = 'The user rejected this action; it was not executed.';

export const transfers = {
  relativeDestination: 'The destination must be an absolute path.',
  relativePath: 'The path must be absolute.',
  missing: (path: string) => `There is nothing at ${path}.`,
  tooMany: (path: string) => `${path} has more files than one archive takes; download its parts.`,
  notAZip: 'A recursive upload must be a .zip file.',
  badName: (name: string) => `${JSON.stringify(name)} cannot be the name of an uploaded file.`,
  noFile: 'The form has no field "file" with a file name.',
} as const;

/** The one-line `message` of an observation, which is for people. */
export const summaries = {
  run: (command: string, exitCode: number) => `Command ${JSON.stringify(command)}: exit code ${exitCode}.`,
  runIpython: 'Ran a code cell.',
  read: (path: string) => `Read ${path}.`,
  write: (path: string) => `Wrote ${path}.`,
  edit: (path: string) => `Edited ${path}.`,
  browse: (url: string) => `Visited ${url}.`,
} as const;
