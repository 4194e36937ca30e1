/** The analyzer that needs no model: it reads shell source by its grammar and paths by their meaning. */

import { quote } from '../../../base/shell-quote.js';
import { judgeFields } from './actions/fields.js';
import { unfoldToolCall } from './actions/tool-call.js';
import type { AnalyzeContext, Analyzer, JudgedAction, Verdict } from './analyzer.js';
import { Findings } from './findings.js';
import type { Invocation } from './shell/invocation.js';
import { Scope } from './shell/scope.js';
import { walkSource } from './shell/walk.js';

export interface RulesAnalyzer extends Analyzer {
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict;
}

/** Judges by fixed rules: shell commands, processes, file paths, addresses and variables. Never asks anybody. */
export function rules(): RulesAnalyzer {
  return {
    name: 'rules',
    analyze(given, context = {}) {
      const action = unfoldToolCall(given);
      const findings = new Findings();
      const scope = new Scope({ context, findings, reader: walkSource });
      try {
        const source = sourceOf(action);
        judgeFields(action, scope);
        if (source !== undefined) {
          walkSource(source, scope);
          keep(source, scope);
        }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        findings.add('unknown', `The action could not be judged: ${message}`);
      }
      return findings.verdict();
    },
  };
}

interface Judged {
  readonly source: string;
  readonly commands: readonly Invocation[];
  readonly complete: boolean;
}

const longestKept = 4096;

/** A command is judged and then matched against the rules of a policy: what was met in it serves both. */
let latest: Judged | undefined;

function keep(source: string, { met, findings }: Scope): void {
  if (source.length <= longestKept) latest = { source, commands: met, complete: findings.unknown.size === 0 };
}

/** Every simple command in shell source, as words, and whether all of it could be read. */
export function commandsOf(
  action: JudgedAction,
): { commands: readonly Invocation[]; complete: boolean } | undefined {
  const source = sourceOf(unfoldToolCall(action));
  if (source === undefined) return undefined;
  if (latest?.source === source) return latest;
  const findings = new Findings();
  const scope = new Scope({ context: {}, findings, reader: walkSource });
  try {
    walkSource(source, scope);
  } catch {
    return { commands: scope.met, complete: false };
  }
  return { commands: scope.met, complete: findings.unknown.size === 0 };
}

/** The shell source an action carries, under whatever name. */
function sourceOf({ action, command, argv, input }: JudgedAction): string | undefined {
  if (Array.isArray(argv)) return argv.map((word) => quote(String(word))).join(' ');
  if (typeof command !== 'string') return undefined;
  // A key such as C-c is typed into what runs already.
  if (action === 'run' && input === true && /^(?:C-.|[A-Z][a-z]+|\s*)$/.test(command)) return undefined;
  return command;
}
