/** Follows a script through its grammar and looks at every program that it starts. */
import {
  type Assignment,
  type Command,
  type Function as FunctionNode,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type While,
  type Word,
} from 'unbash';
import { unknownText } from '../paths/place.js';
import { judgeAssignment } from '../programs/variables.js';
import { type Expansion, expandParts, expandText, expandWord } from './expand.js';
import type { Input, Redirected, Result } from './invocation.js';
import { invoke } from './invoke.js';
import { distinct, Scope } from './scope.js';

const longestSource = 1_000_000;
const mostIterations = 8;
const mostStages = 64;
const nothing: Result = { from: [] };

/** Reads shell source in this scope. */
export function walkSource(source: string, scope: Scope): Result {
  if (scope.tooDeep) return nothing;
  if (source.length > longestSource) {
    scope.findings.add('unknown', 'The command is too large to be judged.');
    return nothing;
  }
  // Brackets without end cost the parser more than their length, and mean nothing.
  if (/[{(]{64}/.test(source)) {
    scope.findings.add('unknown', 'The command is nested too deeply to be judged.');
    return nothing;
  }
  const script = parseOnce(source);
  if (script.errors !== undefined && script.errors.length > 0)
    scope.findings.add(
      'unknown',
      `The command cannot be read as shell source: ${script.errors[0]?.message}.`,
    );
  return walkScript(script, scope);
}

const longestKept = 4096;
let latest: { readonly source: string; readonly script: ParsedScript } | undefined;

/**
 * We judge a command and then take it apart for the rules of a policy. Nothing changes the tree, so both use the
 * same.
 */
function parseOnce(source: string): ParsedScript {
  if (latest?.source === source) return latest.script;
  const script = parse(source);
  if (source.length <= longestKept) latest = { source, script };
  return script;
}

/** Reads a script and, at the end, the functions in it that nothing has called. */
function walkScript(script: ParsedScript, scope: Scope): Result {
  const before = new Set(scope.functions.keys());
  const result = walkAll(script.commands, scope);
  for (const [name, definition] of scope.functions) {
    if (before.has(name) || scope.called.has(name)) continue;
    scope.called.add(name);
    callFunction(definition, [unknownText, unknownText, unknownText], scope);
  }
  return result;
}

/** Reads the body of a function with the arguments of a call. */
export function callFunction(definition: FunctionNode, args: readonly string[], scope: Scope): Result {
  const inner = new Scope(scope);
  if (inner.tooDeep || scope.calling.has(definition)) return nothing;
  inner.positional = args;
  scope.calling.add(definition);
  const result = walk(definition.body, inner);
  scope.calling.delete(definition);
  return result;
}

function walkAll(nodes: readonly SyntaxNode[], scope: Scope): Result {
  const results = nodes.map((node) => walk(node, scope));
  if (results.length === 1) return results[0] ?? nothing;
  const texts = results.map((result) => result.text);
  return {
    from: distinct(results.flatMap((result) => result.from)),
    text: texts.every((text) => text !== undefined) ? texts.join('') : undefined,
  };
}

function walk(node: SyntaxNode, scope: Scope): Result {
  if (!scope.findings.spend()) return nothing;
  switch (node.type) {
    case 'Command':
      return walkCommand(node, scope);
    case 'Statement':
      return walk(node.command, scope);
    case 'Pipeline':
      return walkPipeline(node.commands, scope);
    case 'CompoundList':
      return walkAll(node.commands, scope);
    case 'AndOr':
      return walkAll(node.commands, scope);
    case 'Function':
      scope.functions.set(node.name.value, node);
      judgeForkBomb(node, scope);
      return nothing;
    case 'Subshell':
      return walk(node.body, new Scope(scope));
    case 'BraceGroup':
      return walk(node.body, scope);
    case 'Coproc':
      return walk(node.body, scope);
    case 'For':
    case 'Select':
      return walkLoop(node.name.value, node.wordlist, node.body, scope);
    case 'ArithmeticFor':
      if ((node.test?.pos ?? 0) === (node.test?.end ?? 0) && startsInBackground(node.body))
        scope.high('Starts programs in the background without end.');
      return walk(node.body, scope);
    case 'While':
      judgeEndlessStart(node, scope);
      return walkAll([node.clause, node.body], scope);
    case 'Redirected': {
      const expansion = expansionIn(scope);
      const { redirects, input } = readRedirects(node.redirects, expansion);
      const inner = scope;
      const outside = inner.input;
      inner.input = input ?? outside;
      const result = walk(node.command, inner);
      inner.input = outside;
      // The group as a whole is a producer for its redirects.
      if (redirects.length > 0)
        invoke({ argv: [':'], redirects, input: { from: result.from, text: result.text }, expansion }, scope);
      return result;
    }
    case 'Word':
      expandWord(node, expansionIn(scope));
      return nothing;
    default: {
      const from: Result[] = [];
      forEachChild(node, (child) => from.push(walk(child, scope)));
      return { from: distinct(from.flatMap((result) => result.from)) };
    }
  }
}

function walkPipeline(stages: readonly SyntaxNode[], scope: Scope): Result {
  if (stages.length > mostStages) scope.findings.add('unknown', 'The pipeline is too long to be judged.');
  let from: Result['from'] = [];
  let input: Input = scope.input;
  let text: string | undefined;
  for (const stage of stages.slice(0, mostStages)) {
    const inner = stages.length === 1 ? scope : new Scope(scope);
    const outside = inner.input;
    inner.input = input;
    const result = walk(stage, inner);
    inner.input = outside;
    from = distinct([...from, ...result.from]);
    text = result.text;
    input = { from, text };
  }
  return { from, text };
}

function walkLoop(name: string, words: readonly Word[] | undefined, body: SyntaxNode, scope: Scope): Result {
  const expansion = expansionIn(scope);
  const values = words?.flatMap((word) => expandWord(word, expansion)) ?? [unknownText];
  const results = values.slice(0, mostIterations).map((value) => {
    scope.set(name, value, expansion.substituted);
    return walk(body, scope);
  });
  return { from: distinct([...expansion.substituted, ...results.flatMap((result) => result.from)]) };
}

function walkCommand(command: Command, scope: Scope): Result {
  const expansion = expansionIn(scope);
  const argv: string[] = command.name === undefined ? [] : expandWord(command.name, expansion);
  for (const arg of command.args) {
    if (arg.type === 'Assignment') argv.push(`${arg.name}=${assignedText(arg, expansion)}`);
    else if (arg.parts === undefined) argv.push(arg.value);
    else argv.push(...expandWord(arg, expansion));
  }
  const { redirects, input } =
    command.redirects.length === 0
      ? { redirects: [], input: undefined }
      : readRedirects(command.redirects, expansion);
  for (const part of command.prefix) {
    if (part.type !== 'Assignment') continue;
    const text = assignedText(part, expansion);
    const before = part.append ? (scope.variables.get(part.name)?.text ?? '') : '';
    judgeAssignment(scope.resolve(part.name), text, scope);
    scope.set(part.name, before + text, [...expansion.substituted]);
  }
  if (argv.length === 0 && redirects.length === 0) return { from: [...expansion.substituted], text: '' };
  return invoke({ argv, redirects, input: input ?? scope.input, expansion }, scope);
}

function assignedText({ value }: Assignment, expansion: Expansion): string {
  if (value.type === 'Word') return expandText(value, expansion);
  return value.elements.map((element) => expandText(element, expansion)).join(' ');
}

function readRedirects(
  redirections: readonly Redirection[],
  expansion: Expansion,
): { redirects: Redirected[]; input: Input | undefined } {
  const redirects: Redirected[] = [];
  let input: Input | undefined;
  for (const redirection of redirections) {
    if (redirection.type === 'HereDoc') {
      const { parts, text } = redirection.body;
      input = { from: [], text: parts === undefined ? text : expandParts(parts, expansion) };
      continue;
    }
    const before = expansion.behind.length;
    const target = redirection.target === undefined ? '' : expandText(redirection.target, expansion);
    if (redirection.type === 'HereString') {
      const from = [...expansion.substituted];
      input = { from, text: target.includes(unknownText) && from.length > 0 ? undefined : `${target}\n` };
      continue;
    }
    const behind = expansion.behind[before];
    const descriptor =
      redirection.descriptor?.type === 'FileDescriptor' ? redirection.descriptor.value : undefined;
    if (redirection.operator === '<' && behind !== undefined) {
      input = behind;
    } else if (redirection.operator === '<' || redirection.operator === '<>') {
      redirects.push({ mode: 'read', target, descriptor });
      input = { from: [], file: target };
    } else if (!/^(?:\d+|-)-?$/.test(target) || !redirection.operator.endsWith('&')) {
      redirects.push({ mode: redirection.operator.includes('>>') ? 'append' : 'write', target, descriptor });
    }
  }
  return { redirects, input };
}

function expansionIn(scope: Scope): Expansion {
  return {
    scope,
    substituted: [],
    behind: [],
    variables: [],
    walk: (script, outer) => {
      const inner = new Scope(outer);
      if (inner.tooDeep) return nothing;
      if (script.errors !== undefined && script.errors.length > 0)
        inner.findings.add('unknown', 'A part of the command cannot be read as shell source.');
      return walkScript(script, inner);
    },
  };
}

/** A loop without end that starts something in the background each time, and never waits, fills the machine too. */
function judgeEndlessStart({ kind, clause, body }: While, scope: Scope): void {
  const [only, ...others] = clause.commands;
  const test = only?.command;
  const endless =
    others.length === 0 &&
    test?.type === 'Command' &&
    (kind === 'while' ? /^(?::|true|\[)$/ : /^false$/).test(test.name?.value ?? '') &&
    (test.args.length === 0 ||
      (test.args[0]?.type !== 'Assignment' && /^1?$/.test(test.args[0]?.value ?? '')));
  if (!endless) return;
  const waits = body.commands.some(
    ({ command, background }) =>
      background !== true &&
      command.type === 'Command' &&
      /^(?:sleep|wait|read|break)$/.test(command.name?.value ?? ''),
  );
  if (!waits && startsInBackground(body)) scope.high('Starts programs in the background without end.');
}

function startsInBackground(node: SyntaxNode): boolean {
  let found = node.type === 'Statement' && node.background === true;
  if (node.type !== 'Function')
    forEachChild(node, (child) => {
      found ||= startsInBackground(child);
    });
  return found;
}

/** A function that starts itself twice over, or in the background, fills the machine with copies. */
function judgeForkBomb({ name, body }: FunctionNode, scope: Scope): void {
  const count = (node: SyntaxNode): { calls: number; background: boolean } => {
    let calls = node.type === 'Command' && node.name?.value === name.value ? 1 : 0;
    let background = node.type === 'Statement' && node.background === true;
    forEachChild(node, (child) => {
      const below = count(child);
      calls += below.calls;
      background ||= below.background && below.calls > 0;
    });
    return { calls, background };
  };
  const { calls, background } = count(body);
  if (calls > 1 || (calls > 0 && background))
    scope.high('Defines a function that starts copies of itself without end.');
}
