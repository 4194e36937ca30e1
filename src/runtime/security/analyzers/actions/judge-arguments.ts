/** Judges JSON whose meaning only its receiver knows, such as the arguments of a tool: by names, and else by content. */

import { quote } from '../../../../base/shell-quote.js';
import { judgeCell } from '../code/notebook.js';
import { judgeWrite } from '../paths/changes.js';
import { judgeAssignment } from '../programs/variables.js';
import { type Carrier, judgeAddressField, judgePathRead, judgeTyped, noteContent } from './fields.js';

const commandNames = /^(?:command|cmd|commands|shell|bash|shell_command|command_line|commandline)$/i;
const codeNames = /^(?:code|script|source|source_code|python|program|expression|snippet)$/i;
const wordNames = /^(?:argv|args|arguments|command|cmd)$/i;
const pathNames =
  /(?:^|[_-])(?:path|file|filename|filepath|dir|directory|folder|cwd|from|to|src|dst|dest|destination|root)s?$|(?:Path|File|Dir|Directory|Name)$/;
const addressNames =
  /(?:^|[_-])(?:url|uri|href|link|host|hostname|endpoint|address|server)s?$|(?:Url|URL|Uri|Host)$/;
const tableNames = /^(?:env|environment|variables|envs)$/i;
const contentNames =
  /^(?:content|contents|text|body|data|newText|new_text|new_str|new_string|oldText|old_str|old_string|file_text|edits|replacement)$/i;

/** Arrays and objects beyond this depth are there to hide something. */
const deepest = 32;

export function judgeArguments(value: unknown, carrier: Carrier, depth = 0): void {
  const { scope } = carrier;
  if (!scope.findings.spend()) return;
  if (depth > deepest) {
    scope.findings.add('unknown', 'The arguments are nested too deeply to be judged.');
    return;
  }
  if (typeof value === 'string') judgeText(value, carrier);
  else if (Array.isArray(value)) for (const entry of value) judgeArguments(entry, carrier, depth + 1);
  else if (typeof value === 'object' && value !== null) judgeTable(value as Values, carrier, depth);
}

type Values = Readonly<Record<string, unknown>>;

function judgeTable(table: Values, carrier: Carrier, depth: number): void {
  const { scope } = carrier;
  const paths = Object.entries(table).flatMap(([name, value]) =>
    typeof value === 'string' && pathNames.test(name) ? [value] : [],
  );
  for (const [name, value] of Object.entries(table)) {
    if (typeof value !== 'string') judgeNamed(name, value, carrier, depth);
    else if (commandNames.test(name)) scope.read(value);
    else if (codeNames.test(name)) judgeCell(value, languageOf(table), scope);
    else if (addressNames.test(name)) judgeAddressField(value, carrier);
    else if (pathNames.test(name)) judgePath(value, carrier);
    else if (contentNames.test(name) && paths.length > 0)
      for (const path of paths) noteContent(path, { text: value, append: false, part: true }, carrier);
    else judgeText(value, carrier);
  }
}

function judgeNamed(name: string, value: unknown, carrier: Carrier, depth: number): void {
  const { scope } = carrier;
  if (wordNames.test(name) && isWords(value) && value.length > 0) {
    scope.read(value.map(quote).join(' '));
    return;
  }
  if (tableNames.test(name) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [variable, text] of Object.entries(value)) judgeAssignment(variable, String(text), scope);
    return;
  }
  // A list under the name of a path or an address is many of them.
  if (isWords(value) && (pathNames.test(name) || addressNames.test(name) || commandNames.test(name)))
    for (const text of value) judgeTable({ [name]: text }, carrier, depth + 1);
  else judgeArguments(value, carrier, depth + 1);
}

/** We do not know what a tool does with a path: judge reading it, and ask because it may also write there. */
function judgePath(path: string, carrier: Carrier): void {
  judgePathRead(path, carrier);
  const written = judgeWrite(carrier.scope.place(path));
  if (written?.risk === 'high')
    carrier.scope.findings.add('unknown', `A tool is given a path that must not be written: ${path}`);
}

/** Text under a name that says nothing can be a command, code, an address or a path. */
function judgeText(text: string, carrier: Carrier): void {
  judgeTyped(text, carrier.scope);
  // Only the last character of the scheme: a pattern for all of it would look at a long word from each of its letters.
  if (/[a-z0-9+.-]:[\\/]{2}/i.test(text)) judgeAddressField(text, carrier);
  if (/^[~/.][^\s]*$/.test(text)) judgePath(text, carrier);
}

function languageOf(table: Values): string {
  const { language, lang, interpreter } = table;
  return [language, lang, interpreter].find((given) => typeof given === 'string') ?? 'unknown';
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
