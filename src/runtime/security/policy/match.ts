/** Whether a rule matches an action. Compares their meaning, not their spelling. */
import { posix } from 'node:path';
import { compileGlob, type GlobMatcher } from '../../../base/glob.js';
import { type Host, hostsIn, hostsOf, normalHost } from '../analyzers/actions/hosts.js';
import type { Unfolded } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction, Risk } from '../analyzers/analyzer.js';
import { resolvePath } from '../analyzers/paths/resolve.js';
import { allForms, writtenForm } from '../analyzers/shell/command-forms.js';
import type { Invocation } from '../analyzers/shell/invocation.js';
import { isNetwork } from '../analyzers/shell/sources.js';
import type { PolicyRule } from './types.js';

/** What rules look at, found once for an action and only when a rule asks for it. */
export class Subject {
  readonly action: JudgedAction;
  readonly risk: Risk;
  readonly #unfolded: () => Unfolded;
  readonly #context: AnalyzeContext;

  constructor(action: JudgedAction, risk: Risk, unfolded: () => Unfolded, context: AnalyzeContext) {
    this.action = action;
    this.risk = risk;
    this.#unfolded = unfolded;
    this.#context = context;
  }

  get commands(): readonly Invocation[] {
    return this.#unfolded().commands;
  }

  get sources(): readonly string[] {
    return this.#unfolded().sources;
  }

  /** False when a part is unreadable, or known only when it runs. */
  get complete(): boolean {
    return this.#unfolded().complete && this.commands.every(({ path }) => !path.includes('\0'));
  }

  /** The paths that fields of the action name. */
  get paths(): string[] {
    return this.#unfolded().paths.map((path) => resolvePath(path, this.#context));
  }

  /** Also those in the words of its commands, because every word can be one. */
  get pathsInWords(): string[] {
    return this.commands.flatMap(({ args, redirects, cwd, program }) =>
      program === 'echo' || program === 'printf'
        ? redirects.map(({ target }) => resolvePath(target, this.#context, cwd))
        : [...args.map(optionValue), ...redirects.map(({ target }) => target)].map((word) =>
            resolvePath(word, this.#context, cwd),
          ),
    );
  }

  get hosts(): Host[] {
    return [
      ...this.#unfolded().addresses.flatMap(hostsOf),
      ...this.commands.flatMap(({ args }) => args.flatMap(hostsIn)),
    ];
  }

  /** True when a command reaches the network and does not tell where. */
  get reachesElsewhere(): boolean {
    return this.commands.some(
      ({ program, args }) => isNetwork(program) && args.flatMap(hostsIn).length === 0,
    );
  }

  get tools(): readonly string[] {
    return this.#unfolded().tools;
  }
}

/** `--file=x` names x. */
function optionValue(word: string): string {
  return /^--?[\w-]+=(.+)$/.exec(word)?.[1] ?? word;
}

const upToMedium: readonly Risk[] = ['low', 'medium'];

/** Whether a rule matches, with its patterns compiled. Throws `invalid-pattern` for one that is too long. */
export function compileRule(rule: PolicyRule): (subject: Subject) => boolean {
  const whole = rule.decision === 'allow';
  const risks = rule.risk === undefined ? (whole ? upToMedium : undefined) : list(rule.risk);
  const tests: ((subject: Subject) => boolean)[] = [];
  if (risks !== undefined) tests.push(({ risk }) => risks.includes(risk));
  if (rule.action !== undefined) {
    const fits = anyOf(list(rule.action).map(textGlob));
    tests.push(({ action }) => fits(action.action));
  }
  if (rule.tool !== undefined) {
    const fits = anyOf(list(rule.tool).map(textGlob));
    tests.push(({ tools }) => holds(tools, fits, whole));
  }
  if (rule.command !== undefined) {
    const fits = anyOf(list(rule.command).map(commandPattern));
    tests.push((subject) => matchesCommand(fits, subject, whole));
  }
  if (rule.path !== undefined) {
    const fits = anyOf(list(rule.path).map((glob) => compileGlob(posix.normalize(glob), 'path')));
    tests.push((subject) => matchesPath(fits, subject, whole));
  }
  if (rule.host !== undefined) {
    const patterns = list(rule.host).map(hostPattern);
    const fits = (host: Host) => patterns.some((pattern) => pattern(host));
    tests.push((subject) => matchesHost(fits, subject, whole));
  }
  return (subject) => tests.every((test) => test(subject));
}

function matchesCommand(fits: GlobMatcher, subject: Subject, whole: boolean): boolean {
  if (whole) return subject.complete && holds(subject.commands.map(writtenForm), fits, true);
  const sources = subject.sources.map((source) => source.trim());
  return holds([...subject.commands.flatMap(allForms), ...sources], fits, false);
}

/** Only verbs of files can be allowed by their path: a command may do more than its words name. */
function matchesPath(fits: GlobMatcher, subject: Subject, whole: boolean): boolean {
  if (whole) return subject.complete && subject.commands.length === 0 && holds(subject.paths, fits, true);
  return holds([...subject.paths, ...subject.pathsInWords], fits, false);
}

function matchesHost(fits: (host: Host) => boolean, subject: Subject, whole: boolean): boolean {
  const { hosts } = subject;
  if (!whole) return hosts.some(fits);
  return subject.complete && !subject.reachesElsewhere && hosts.length > 0 && hosts.every(fits);
}

/** `example.com` means all its ports, `example.com:8443` one. */
function hostPattern(pattern: string): (host: Host) => boolean {
  const [, label = pattern, wanted] = /^(.*?[^:]):(\d+)$/.exec(pattern) ?? [];
  const plain = label.includes('*') || label.includes('?') ? label.toLowerCase() : normalHost(label);
  const fits = textGlob(plain.replace(/\.$/, ''));
  return ({ name, port }) => (wanted === undefined || Number(wanted) === port) && fits(name);
}

function commandPattern(pattern: string | RegExp): GlobMatcher {
  if (typeof pattern === 'string') return textGlob(pattern);
  // Drops the flags that make an expression remember its position.
  const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  return (text) => expression.test(text);
}

/** Two stars include the slash behind them, as in paths, so that one pattern matches `rm` in any directory. */
function textGlob(glob: string): GlobMatcher {
  return compileGlob(glob.replace(/\*\*\/?/g, '*'), 'text');
}

function anyOf(patterns: readonly GlobMatcher[]): GlobMatcher {
  return (text) => patterns.some((fits) => fits(text));
}

function holds(texts: readonly string[], fits: GlobMatcher, whole: boolean): boolean {
  return whole ? texts.length > 0 && texts.every(fits) : texts.some(fits);
}

function list<Value>(value: Value | readonly Value[]): readonly Value[] {
  return (Array.isArray(value) ? value : [value]) as readonly Value[];
}
