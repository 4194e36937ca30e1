/** The options that say what may run in a cell, and what must not leave it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../base/command-line.js';
import type { CreateRuntimeOptions } from '../index.js';

export interface TrustedOptions {
  guard?: 'rules';
  rules: string[];
  secret: string[];
}

export function withTrustedOptions(command: Command): Command {
  return command
    .addOption(new Option('--guard <guard>', 'refuse actions of high or unknown risk').choices(['rules']))
    .addOption(rulesOption())
    .option(
      '--secret <NAME>',
      'variable of this process: mask its value in all that leaves the cell, set it for commands that mention it; may be repeated',
      collect,
      [],
    );
}

/** The user's own rules; giving some turns the guard on. */
export function rulesOption(): Option {
  return new Option('--rules <file>', 'judge by the rules in this file too; may be repeated')
    .argParser(collect)
    .default([])
    .implies({ guard: 'rules' });
}

/** Call it before anything starts: it takes secrets out of the environment of this process. */
export async function takeTrusted({
  guard,
  rules: files,
  secret: names,
}: TrustedOptions): Promise<Pick<CreateRuntimeOptions, 'policy' | 'guards' | 'secrets'>> {
  const secrets = Object.fromEntries(
    names.map((name) => [name, { value: take(name), reach: 'env' as const }]),
  );
  return {
    ...(names.length > 0 && { secrets }),
    ...(guard !== undefined && (await judgedByRules(files))),
  };
}

/** A server can ask nobody, so refuse what would be a question where it matters. */
async function judgedByRules(
  extend: readonly string[],
): Promise<Pick<CreateRuntimeOptions, 'policy' | 'guards'>> {
  const { rules } = await import('../runtime/security/analyzers/rules.js');
  return {
    guards: [rules({ extend })],
    policy: { onRisk: { low: 'allow', medium: 'allow', high: 'deny', unknown: 'deny' } },
  };
}

function take(name: string): string {
  const value = process.env[name];
  delete process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new InvalidArgumentError(`--secret ${name}: there is no variable ${name} here, or it is empty.`);
}
