/** Reads a user's own rules from a file. */
import { parse, TomlError } from 'smol-toml';
import type { z } from 'zod';
import { readTrusted, UntrustedPathError } from '../../../base/trusted-path.js';
import { WorkcellError } from '../../../protocol/errors.js';
import { builtinRules } from './programs/builtin-rules.js';
import { type RuleFile, ruleFileSchema } from './programs/rule-file.js';
import { runsCode } from './shell/interpreters.js';

/** Rules for `rules({ extend })`. */
export interface RuleExtension extends RuleFile {
  /** The file they came from, without links. */
  readonly path: string;
}

/**
 * Reads a file of rules, TOML. It must belong to you or root, and others may write neither to it nor to a directory
 * on the way. Throws `invalid-config`, with the rule and the key, for content that it does not understand.
 */
export function loadRules(file: string): RuleExtension {
  const { path, text } = read(file);
  const parsed = ruleFileSchema().safeParse(parseToml(path, text));
  if (!parsed.success) throw invalid(path, parsed.error.issues.map(describe).join('; '));
  for (const [index, { program }] of parsed.data.harmless.entries())
    if (builtinRules.runsOthers(program) || runsCode(program))
      throw invalid(
        path,
        `harmless[${index}].program: "${program}" runs other programs, so it is never harmless by its name. Use a rule of the policy that allows the command`,
      );
  return { path, ...parsed.data };
}

function read(file: string): { path: string; text: string } {
  try {
    return readTrusted(file);
  } catch (cause) {
    if (cause instanceof UntrustedPathError)
      throw new WorkcellError('config-untrusted', `The file of rules ${file} is refused: ${cause.message}.`, {
        details: { file },
        cause,
      });
    const { code, message } = cause as NodeJS.ErrnoException;
    throw invalid(file, code === 'ENOENT' ? 'there is no such file' : message, cause);
  }
}

function parseToml(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason = ''] = cause.message.split('\n');
    throw invalid(`${path}:${cause.line}:${cause.column}`, reason, cause);
  }
}

/** `rules[1].cases[0].verb: …`. In a union, the branch that came furthest tells most. */
function describe(issue: z.core.$ZodIssue): string {
  const at = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const [deeper] =
    issue.code === 'invalid_union'
      ? issue.errors
          .flat()
          .filter(({ path, code }) => path.length > 0 || code === 'custom')
          .map(({ message }) => message)
      : [];
  return `${at.replace(/^\./, '')}: ${deeper ?? issue.message}`;
}

function invalid(path: string, reason: string, cause?: unknown): WorkcellError {
  return new WorkcellError('invalid-config', `The rules in ${path} are not understood: ${reason}.`, {
    details: { file: path },
    ...(cause !== undefined && { cause }),
  });
}
