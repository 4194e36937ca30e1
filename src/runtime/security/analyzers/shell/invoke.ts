/** Judges one program of a script: looks through what only starts another program, then asks the tables. */

import { quote } from '../../../../base/shell-quote.js';
import { unknownText } from '../paths/place.js';
import { judgeInvocation } from '../programs/judge-invocation.js';
import { candidatesFor } from './candidates.js';
import type { Expansion } from './expand.js';
import { runInterpreter, runWritten } from './interpreters.js';
import type { Input, Invocation, Redirected, Result } from './invocation.js';
import { outputOf } from './output.js';
import type { Scope } from './scope.js';
import { judgeSource } from './sources.js';
import { callFunction, walkSource } from './walk.js';

/** Programs that can start another one although that is not their purpose. */
const escapes =
  /^(?:find|fd|vim?|nvim|view|ed|tar|git|less|man|rsync|zip|gdb|expect|flock|watch|xargs|parallel)$/;

export interface Start {
  readonly argv: readonly string[];
  readonly redirects: readonly Redirected[];
  readonly input: Input;
  readonly expansion: Pick<Expansion, 'substituted' | 'behind' | 'variables'>;
}

export function invoke(start: Start, scope: Scope): Result {
  return scope.findings.nested<Result>(() => invokeHere(start, scope), { from: [] });
}

function invokeHere(start: Start, scope: Scope): Result {
  if (!scope.findings.spend()) return { from: [] };
  const [path = ':', ...args] = start.argv;
  const { substituted, behind, variables } = start.expansion;
  const invocation: Invocation = {
    program: programName(path, scope),
    path,
    args,
    redirects: start.redirects,
    input: start.input,
    substituted,
    behind,
    variables,
    elevated: scope.elevated,
    cwd: scope.cwd,
  };
  scope.met.push(invocation);
  const from = [...substituted, invocation];

  const definition = scope.functions.get(path);
  if (definition !== undefined) {
    scope.called.add(path);
    return callFunction(definition, args, scope);
  }
  const alias = scope.aliases.get(path);
  if (alias !== undefined && scope.depth < 8) {
    scope.aliases.delete(path);
    walkSource(`${alias} ${args.map(quote).join(' ')}`, scope);
    scope.aliases.set(path, alias);
    return { from };
  }
  if (path.startsWith(unknownText)) judgeSource(substituted, scope, 'The name of the program');
  for (const program of candidatesFor(path))
    judgeInvocation(
      { ...invocation, program, args: args.map((arg) => arg.replace(/\[(.)\]/g, '$1')) },
      scope,
    );
  judgeInvocation(invocation, scope);
  if (path.includes('/')) runWritten(path, scope);

  const inner = scope.rules.unwrap(invocation, scope);
  if (inner !== undefined) {
    const outside = scope.elevated;
    const before = scope.escaping;
    scope.elevated ||= inner.elevated;
    if (escapes.test(invocation.program)) scope.escaping = invocation.program;
    const results = inner.starts.map(({ argv, source }) =>
      source === undefined
        ? invoke(
            { ...start, argv, redirects: [], expansion: innerExpansion(invocation, start.expansion) },
            scope,
          )
        : walkSource(source, scope),
    );
    scope.elevated = outside;
    scope.escaping = before;
    return { from: [...from, ...results.flatMap((result) => result.from)], text: results[0]?.text };
  }
  const interpreted = runInterpreter(invocation, scope);
  if (interpreted !== undefined) return { from: [...from, ...interpreted.from], text: interpreted.text };
  return { from, text: writtenOutput(invocation, scope) ?? outputOf(invocation) };
}

/** What `cat` prints of files that this very script has written. */
function writtenOutput({ program, args }: Invocation, scope: Scope): string | undefined {
  if (program !== 'cat' || scope.written.size === 0 || args.length === 0) return undefined;
  const texts = args.map((arg) => scope.written.get(scope.place(arg)));
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

/** The words that `xargs` and its like add come from their input. */
function innerExpansion({ program, input }: Invocation, expansion: Start['expansion']): Start['expansion'] {
  if (program !== 'xargs' && program !== 'parallel') return expansion;
  return { ...expansion, substituted: [...expansion.substituted, ...input.from] };
}

function programName(path: string, scope: Scope): string {
  const renamed = scope.renamed.size === 0 ? undefined : scope.renamed.get(scope.place(path));
  if (renamed !== undefined) return renamed;
  const slash = path.lastIndexOf('/');
  return slash === -1 ? path : path.slice(slash + 1);
}
