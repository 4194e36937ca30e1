/** Whether a rule matches an action. */
import { posix } from 'node:path';
import type { JudgedAction, Risk } from '../analyzers/analyzer.js';
import { commandsOf } from '../analyzers/rules.js';
import type { PolicyRule } from './types.js';

/** What rules look at, found once for an action and only when a rule asks for it. */
export class Subject {
  readonly action: JudgedAction;
  readonly risk: Risk;
  readonly #workspace: string | undefined;
  #commands: { texts: string[]; complete: boolean } | undefined;

  constructor(action: JudgedAction, risk: Risk, workspace: string | undefined) {
    this.action = action;
    this.risk = risk;
    this.#workspace = workspace;
  }

  /** Each simple command as one text. Incomplete when a part could not be read, or is known only when it runs. */
  get commands(): { texts: string[]; complete: boolean } {
    if (this.#commands !== undefined) return this.#commands;
    const found = commandsOf(this.action);
    const invocations = found?.commands ?? [];
    this.#commands = {
      texts: invocations.map(({ path, args }) => [path, ...args].join(' ')),
      complete: found?.complete === true && invocations.every(({ path }) => !path.includes('\0')),
    };
    return this.#commands;
  }

  get paths(): string[] {
    const { path, from, to, cwd } = this.action;
    return [path, from, to, cwd]
      .filter((value) => typeof value === 'string')
      .map((value) =>
        this.#workspace === undefined ? posix.normalize(value) : posix.resolve(this.#workspace, value),
      );
  }

  get hosts(): string[] {
    const { url } = this.action;
    const words = typeof url === 'string' ? [url] : this.commands.texts.flatMap((text) => text.split(/\s+/));
    return [...new Set(words.map(hostIn).filter((host) => host !== undefined))];
  }

  get tool(): string | undefined {
    const { tool, name } = this.action;
    const value = tool ?? (this.action.action.startsWith('call_tool') ? name : undefined);
    return typeof value === 'string' ? value : undefined;
  }
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
  if (action !== undefined && !list(action).some((glob) => toRegExp(glob, false).test(subject.action.action)))
    return false;
  if (
    tool !== undefined &&
    !list(tool).some((glob) => subject.tool !== undefined && toRegExp(glob, false).test(subject.tool))
  )
    return false;
  if (command !== undefined && !matchesCommand(list(command), subject, whole)) return false;
  if (
    path !== undefined &&
    !holds(
      subject.paths,
      list(path).map((glob) => toRegExp(glob, true)),
      whole,
    )
  )
    return false;
  return (
    host === undefined ||
    holds(
      subject.hosts,
      list(host).map((glob) => toRegExp(glob, false)),
      whole,
    )
  );
}

function matchesCommand(patterns: readonly (string | RegExp)[], subject: Subject, whole: boolean): boolean {
  const expressions = patterns.map((pattern) =>
    typeof pattern === 'string' ? toRegExp(pattern, false) : pattern,
  );
  const { texts, complete } = subject.commands;
  if (whole) return complete && holds(texts, expressions, true);
  const { command } = subject.action;
  return holds(typeof command === 'string' ? [...texts, command.trim()] : texts, expressions, false);
}

function holds(texts: readonly string[], expressions: readonly RegExp[], whole: boolean): boolean {
  const fits = (text: string) =>
    expressions.some((expression) =>
      new RegExp(expression.source, expression.flags.replace(/[gy]/g, '')).test(text),
    );
  return whole ? texts.length > 0 && texts.every(fits) : texts.some(fits);
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

function hostIn(word: string): string | undefined {
  return (
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?(\[[^\]]+\]|[^/:?#\s]+)/i.exec(word)?.[1]?.toLowerCase() ??
    /^[\w.-]+@([\w.-]+):/.exec(word)?.[1]?.toLowerCase() ??
    /^((?:[\w-]+\.)+[a-z]{2,})(?:[:/]\S*)?$/i.exec(word)?.[1]?.toLowerCase()
  );
}

function list<Value>(value: Value | readonly Value[]): readonly Value[] {
  return (Array.isArray(value) ? value : [value]) as readonly Value[];
}
