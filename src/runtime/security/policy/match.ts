/** Whether a rule matches an action. Both are compared as they are understood, not as they are spelled. */
import { posix } from 'node:path';
import { type Host, hostsIn, hostsOf, normalHost } from '../analyzers/actions/hosts.js';
import type { Unfolded } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction, Risk } from '../analyzers/analyzer.js';
import { resolvePath } from '../analyzers/paths/resolve.js';
import { allForms, writtenForm } from '../analyzers/shell/canonical.js';
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

  /** False when a part could not be read, or is known only when it runs. */
  get complete(): boolean {
    return this.#unfolded().complete && this.commands.every(({ path }) => !path.includes('\0'));
  }

  /** The paths that fields of the action name. */
  get paths(): string[] {
    return this.#unfolded().paths.map((path) => resolvePath(path, this.#context));
  }

  /** Those in the words of its commands, too: every word may be one. */
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

export function matches(rule: PolicyRule, subject: Subject): boolean {
  const { action, command, path, host, tool, risk } = rule;
  const whole = rule.decision === 'allow';
  if (
    risk === undefined
      ? whole && subject.risk !== 'low' && subject.risk !== 'medium'
      : !list(risk).includes(subject.risk)
  )
    return false;
  if (action !== undefined && !holds([subject.action.action], globs(action, false), whole)) return false;
  if (tool !== undefined && !holds(subject.tools, globs(tool, false), whole)) return false;
  if (command !== undefined && !matchesCommand(list(command), subject, whole)) return false;
  if (path !== undefined && !matchesPath(globs(path, true), subject, whole)) return false;
  return host === undefined || matchesHost(list(host), subject, whole);
}

function matchesCommand(patterns: readonly (string | RegExp)[], subject: Subject, whole: boolean): boolean {
  const expressions = patterns.map((pattern) =>
    typeof pattern === 'string' ? toRegExp(pattern, false) : pattern,
  );
  if (whole) return subject.complete && holds(subject.commands.map(writtenForm), expressions, true);
  const sources = subject.sources.map((source) => source.trim());
  return holds([...subject.commands.flatMap(allForms), ...sources], expressions, false);
}

/** What is allowed by its path is a verb of files: a command may do more than its words name. */
function matchesPath(expressions: readonly RegExp[], subject: Subject, whole: boolean): boolean {
  if (whole)
    return subject.complete && subject.commands.length === 0 && holds(subject.paths, expressions, true);
  return holds([...subject.paths, ...subject.pathsInWords], expressions, false);
}

function matchesHost(patterns: readonly string[], subject: Subject, whole: boolean): boolean {
  const { hosts } = subject;
  const fits = (host: Host) => patterns.some((pattern) => fitsHost(pattern, host));
  if (!whole) return hosts.some(fits);
  return subject.complete && !subject.reachesElsewhere && hosts.length > 0 && hosts.every(fits);
}

/** `example.com` means all its ports, `example.com:8443` one. */
function fitsHost(pattern: string, { name, port }: Host): boolean {
  const [, label = pattern, wanted] = /^(.*?[^:]):(\d+)$/.exec(pattern) ?? [];
  if (wanted !== undefined && Number(wanted) !== port) return false;
  const plain = label.includes('*') || label.includes('?') ? label.toLowerCase() : normalHost(label);
  return toRegExp(plain.replace(/\.$/, ''), false).test(name);
}

function holds(texts: readonly string[], expressions: readonly RegExp[], whole: boolean): boolean {
  const fits = (text: string) =>
    expressions.some((expression) =>
      new RegExp(expression.source, expression.flags.replace(/[gy]/g, '')).test(text),
    );
  return whole ? texts.length > 0 && texts.every(fits) : texts.some(fits);
}

function globs(given: string | readonly string[], isPath: boolean): RegExp[] {
  return list(given).map((glob) => toRegExp(isPath ? posix.normalize(glob) : glob, isPath));
}

/** `*` and `?` as in file names; in paths they stop at a slash and `**` does not. */
function toRegExp(glob: string, isPath: boolean): RegExp {
  const source = glob.replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, (part) => {
    if (part.startsWith('**')) return '.*';
    if (part === '*') return isPath ? '[^/]*' : '.*';
    if (part === '?') return isPath ? '[^/]' : '.';
    return `\\${part}`;
  });
  return new RegExp(`^${source}$`, 's');
}

function list<Value>(value: Value | readonly Value[]): readonly Value[] {
  return (Array.isArray(value) ? value : [value]) as readonly Value[];
}
