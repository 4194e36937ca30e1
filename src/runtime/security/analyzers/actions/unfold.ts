/** The one way from an action to the commands, code, addresses, paths and variables in it, for every caller. */

import { posix } from 'node:path';
import { quote } from '../../../../base/shell-quote.js';
import { actions, type Carried, describeAction, verbs } from '../../../../protocol/index.js';
import type { AnalyzeContext, DescribedAction, JudgedAction } from '../analyzer.js';
import { judgeCell } from '../code/notebook.js';
import { Findings } from '../findings.js';
import { own, wordSet } from '../lookup.js';
import { builtinRules } from '../programs/builtin-rules.js';
import type { RuleSet } from '../programs/rule-set.js';
import { judgeAssignment } from '../programs/variables.js';
import type { Invocation } from '../shell/invocation.js';
import type { Memory } from '../shell/memory.js';
import { Scope } from '../shell/scope.js';
import { walkSource } from '../shell/walk.js';
import {
  type Carrier,
  judgeAddressField,
  judgePathRead,
  judgePathRemoval,
  judgePathWrite,
  judgeTyped,
  noteContent,
} from './fields.js';
import { judgeArguments } from './judge-arguments.js';
import { judgeKeys } from './keys.js';

/** The content of an action, and the findings about it. */
export interface Unfolded {
  /** The rules that read it. */
  readonly rules: RuleSet;
  readonly findings: Findings;
  /** Every simple command, from shell source, code and typed text. */
  readonly commands: readonly Invocation[];
  /** Shell source, unchanged. */
  readonly sources: readonly string[];
  readonly paths: readonly string[];
  readonly addresses: readonly string[];
  readonly tools: readonly string[];
  /** Variables that the cell held before, and texts of written files that it names. */
  known(): Known;
  /** False when it may hold more than the lists say: code, text for running programs, unreadable parts. */
  readonly complete: boolean;
  /** Notes what it leaves in the cell. Call it once the action may run. */
  keep(memory: Memory): void;
}

/** What earlier actions left that gives an action its meaning. */
interface Known {
  /** Where its shell went. */
  readonly cwd: string;
  readonly variables: readonly (readonly [string, string])[];
  readonly files: readonly (readonly [string, string])[];
}

export function unfold(action: JudgedAction, context: AnalyzeContext = {}, rules = builtinRules): Unfolded {
  const definition = definitionOf(action, context);
  const findings = new Findings();
  const scope = new Scope({ context, findings, reader: walkSource, rules });
  const unfolding = new Unfolding(scope, context.typed ?? '');
  try {
    const carried = describeAction(definition, action);
    const session = context.cwd === null ? undefined : carried.find(isShell)?.target;
    context.memory?.bring(scope, session);
    // A command that continues may have left the directory that its shell reported.
    unfolding.elsewhere = scope.cwd;
    if (typeof context.cwd === 'string') scope.cwd = scope.place(context.cwd);
    for (const group of groupsOf(carried)) unfolding.readGroup(group);
    if (definition?.opensSession)
      scope.medium('Opens a session, and what happens in it is not in the action.');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    findings.add('unknown', `The action could not be judged: ${message}`);
  }
  return {
    rules,
    findings,
    commands: scope.met,
    sources: unfolding.sources,
    paths: unfolding.paths,
    addresses: scope.addresses,
    tools: unfolding.tools,
    known: () =>
      knownIn(scope, unfolding.elsewhere, [
        action,
        scope.met.map(({ path, args, redirects }) => [path, args, redirects]),
      ]),
    complete: unfolding.complete && findings.unknown.size === 0,
    keep(memory) {
      memory.keepFiles(scope);
      for (const { session, inner, cwd } of unfolding.shells) memory.keepShell(session, inner, cwd);
      // An action that starts nothing sets its variables for later starts.
      if (definition?.startsProcess !== true) memory.keepVariables(unfolding.variables);
    },
  };
}

/** Files that programs read without being told. */
const unnamed =
  /^(?:package\.json|(?:gnu)?makefile|justfile|rakefile|taskfile\.ya?ml|pyproject\.toml|\.envrc)$/i;

/** A file counts as named by its name without the ending, too: `python3 -m x` reads `x.py`. */
function knownIn(scope: Scope, cwd: string, words: unknown): Known {
  const text = JSON.stringify(words);
  const isNamed = (place: string) => {
    const name = posix.basename(place);
    return unnamed.test(name) || text.includes(JSON.stringify(posix.parse(name).name).slice(1, -1));
  };
  return {
    cwd,
    variables: [...scope.variables].map(([name, { text: value }]) => [name, value] as const),
    files: [...scope.written].filter(([place]) => isNamed(place)),
  };
}

/** The definition with the kinds of an action's fields. */
export function definitionOf(
  action: JudgedAction,
  { definition }: AnalyzeContext,
): DescribedAction | undefined {
  return definition ?? own(actions, action.action) ?? own(verbs, action.action);
}

/** Groups what belongs together, the directory and the variables first: they decide the meaning of the rest. */
function groupsOf(carried: readonly Carried[]): Carried[][] {
  const groups = new Map<string, Carried[]>();
  for (const item of carried) {
    const group = groups.get(item.group);
    if (group === undefined) groups.set(item.group, [item]);
    else group.push(item);
  }
  return [...groups.values()].map((group) => group.sort((left, right) => rank(left) - rank(right)));
}

function isShell(item: Carried): item is Extract<Carried, { kind: 'shell' }> {
  return item.kind === 'shell';
}

function rank(item: Carried): number {
  if (item.kind === 'path' && item.access === 'cwd') return 0;
  return item.kind === 'variable' ? 1 : 2;
}

class Unfolding {
  readonly sources: string[] = [];
  readonly paths: string[] = [];
  readonly tools: string[] = [];
  /** Shells that continue after the action. */
  readonly shells: { readonly session: string; readonly inner: Scope; readonly cwd: string }[] = [];
  readonly variables: (readonly [string, string])[] = [];
  complete = true;
  /** Where the shell may be instead of the directory that it reported. */
  elsewhere = '.';
  readonly #root: Scope;
  readonly #typed: string;
  #moved = false;

  constructor(root: Scope, typed: string) {
    this.#root = root;
    this.#typed = typed;
  }

  readGroup(group: readonly Carried[]): void {
    const scope = new Scope(this.#root);
    for (const item of group) this.#read(item, { scope, paths: this.paths });
  }

  #read(item: Carried, carrier: Carrier): void {
    const { scope } = carrier;
    switch (item.kind) {
      case 'path':
        this.#readPath(item, carrier);
        break;
      case 'content':
        noteContent(item.path, item, carrier);
        break;
      case 'variable':
        judgeAssignment(item.name, item.value, scope);
        scope.set(item.name, item.value);
        if (item.group === '') this.variables.push([item.name, item.value]);
        break;
      case 'shell':
        this.sources.push(item.source);
        this.#runElsewhere(item.source, scope);
        this.#run(item.source, item, scope);
        if (item.target !== undefined) this.#leave(item.target, scope);
        break;
      case 'argv':
        this.#run(item.argv.map(quote).join(' '), item, scope);
        break;
      case 'address':
        judgeAddressField(item.address, carrier);
        break;
      case 'tool':
        this.tools.push(item.name);
        break;
      default:
        // The following may do more than we can list.
        this.complete = false;
        this.#readOpenEnded(item, carrier);
    }
  }

  #readOpenEnded(item: Carried, carrier: Carrier): void {
    const { scope } = carrier;
    if (item.kind === 'code') judgeCell(item.code, item.language, scope);
    else if (item.kind === 'input') {
      if (item.keys) judgeKeys(item.text, scope);
      judgeTyped(this.#typed + item.text, scope);
    } else if (item.kind === 'arguments') judgeArguments(item.value, carrier);
    else if (item.kind === 'unknown') {
      scope.findings.add('unknown', `What the field "${item.field}" does is not known.`);
      judgeArguments({ [item.field]: item.value }, carrier);
    }
  }

  #runElsewhere(source: string, scope: Scope): void {
    if (this.#moved || this.elsewhere === scope.cwd) return;
    const inner = new Scope(scope);
    inner.cwd = this.elsewhere;
    inner.suspect(source);
  }

  /** A directory for one command does not move the shell. */
  #leave(session: string, scope: Scope): void {
    this.shells.push({ session, inner: scope, cwd: this.#moved ? this.#root.cwd : scope.cwd });
  }

  #readPath(item: Extract<Carried, { kind: 'path' }>, carrier: Carrier): void {
    const { scope } = carrier;
    if (item.access === 'read') judgePathRead(item.path, carrier);
    else if (item.access === 'write') judgePathWrite(item.path, carrier);
    else if (item.access === 'remove') judgePathRemoval(item.path, item.recursive === true, carrier);
    else this.paths.push(item.path);
    if (item.access !== 'cwd') return;
    scope.cwd = scope.place(item.path);
    this.#moved = true;
  }

  #run(
    source: string,
    { input, open }: { input?: string | undefined; open?: boolean | undefined },
    scope: Scope,
  ): void {
    if (input !== undefined) scope.input = { from: [], text: input };
    const before = scope.met.length;
    walkSource(source, scope);
    const programs = scope.met.slice(before).map(({ program }) => program);
    const mayRun = programs.some((program) => !takesData.has(program));
    if (input !== undefined && mayRun) judgeTyped(input, scope);
    if (input !== undefined && mayRun) this.complete = false;
    if (open === true && mayRun) {
      this.complete = false;
      if (programs.some((program) => shells.test(program)))
        scope.medium('Starts a shell that takes commands later.');
    }
  }
}

const shells = /^(?:ba|da|z|k|fi|c|tc)?sh$/;

/** Programs that do nothing with their input but store, show, compare or change it. */
const takesData = wordSet(
  'cat tee wc sort uniq grep egrep fgrep rg head tail cut tr sed jq yq diff cmp sha256sum sha1sum md5sum base64 gzip gunzip tar patch dd xxd od hexdump column fold nl rev paste true false : echo printf cd test [ env mkdir',
);
