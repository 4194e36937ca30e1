/** Judges the fields of an action other than its shell source: paths, addresses, variables. */

import type { JudgedAction } from '../analyzer.js';
import { judgeCode } from '../code/judge.js';
import { own } from '../own.js';
import { judgeRemoval, judgeWrite, show } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import { write } from '../programs/files.js';
import { judgeAssignment } from '../programs/variables.js';
import type { Scope } from '../shell/scope.js';
import { judgeAddress } from './addresses.js';

export function judgeFields(action: JudgedAction, scope: Scope): void {
  const { url, env, variables, code, cwd } = action;
  own(fileChecks, action.action)?.(action, scope);
  if (typeof url === 'string') report(judgeAddress(url), scope);
  for (const table of [env, variables]) {
    if (typeof table !== 'object' || table === null) continue;
    for (const [name, value] of Object.entries(table)) judgeAssignment(name, String(value), scope);
  }
  if (typeof code === 'string') judgeCode(code, scope, 'a code cell');
  if (typeof cwd === 'string') scope.cwd = scope.place(cwd);
  if (action.action === 'start_process') judgeStandardInput(action, scope);
  if (action.action === 'write_process' && typeof action.data === 'string' && action.encoding !== 'base64')
    judgeTyped(action.data, scope);
}

type FieldCheck = (action: JudgedAction, scope: Scope) => void;

const fileChecks: Readonly<Record<string, FieldCheck | undefined>> = {
  read: (action, scope) => read(action.path, scope),
  list: () => {},
  download: (action, scope) => read(action.path, scope),
  grep: (action, scope) => read(action.path, scope),
  write: (action, scope) => {
    if (typeof action.path !== 'string') return;
    const text = action.encoding === 'base64' ? undefined : action.content;
    write(action.path, scope, 'Writes', typeof text === 'string' ? text : undefined, action.append === true);
  },
  upload: (action, scope) => changed(action.path, scope),
  make_dir: (action, scope) => changed(action.path, scope),
  edit: (action, scope) => changed(action.path, scope),
  remove: (action, scope) => removed(action.path, action.recursive === true, scope),
  move: (action, scope) => {
    removed(action.from, true, scope);
    changed(action.to, scope);
  },
  copy: (action, scope) => {
    read(action.from, scope);
    changed(action.to, scope);
  },
  call_tool: judgeToolPath,
  call_tool_mcp: judgeToolPath,
  install_tools: ({ source }, scope) => {
    if (typeof source === 'string') judgeCode(source, scope, 'a module of tools');
  },
  open_terminal: ({ argv }, scope) => {
    if (argv === undefined) scope.medium('Opens a terminal, where what is typed is not judged.');
  },
};

/** What a tool does with a path only its other arguments tell. */
function judgeToolPath({ path, content, newText, edits }: JudgedAction, scope: Scope): void {
  read(path, scope);
  if ([content, newText, edits].some((given) => given !== undefined)) changed(path, scope);
}

/** A shell that reads its input later is judged by what is written to it. */
function judgeStandardInput({ stdin, encoding, argv, keepStdin }: JudgedAction, scope: Scope): void {
  const program = Array.isArray(argv) ? String(argv[0]).split('/').at(-1) : undefined;
  const shell = program !== undefined && /^(?:ba|da|z|k)?sh$/.test(program);
  if (typeof stdin === 'string' && encoding !== 'base64' && shell) scope.read(stdin);
  else if (typeof stdin === 'string' && encoding !== 'base64')
    judgeCode(stdin, scope, program ?? 'a process');
  if (typeof stdin === 'string') scope.input = { from: [], text: encoding === 'base64' ? undefined : stdin };
  if (keepStdin === true && shell) scope.medium('Starts a shell that takes commands later.');
}

/** Bytes for a process that may or may not be a shell: only what is found counts, not what cannot be read. */
function judgeTyped(text: string, scope: Scope): void {
  const before = scope.findings.unknown.size;
  scope.read(text);
  if (before === 0) scope.findings.unknown.clear();
  judgeCode(text, scope, 'a process');
}

function read(path: unknown, scope: Scope): void {
  if (typeof path !== 'string') return;
  const found = judgeRead(scope.place(path));
  if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${show(path)}`);
}

function changed(path: unknown, scope: Scope): void {
  if (typeof path === 'string') report(judgeWrite(scope.place(path)), scope);
}

function removed(path: unknown, recursive: boolean, scope: Scope): void {
  if (typeof path === 'string') report(judgeRemoval(scope.place(path), recursive), scope);
}

function report(found: { risk: 'high' | 'medium'; reason: string } | undefined, scope: Scope): void {
  if (found !== undefined) scope.findings.add(found.risk, found.reason);
}
