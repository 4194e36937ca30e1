/** The form of a file with a user's own rules. It has the keys of `Rule`, spelled like settings. */
import { z } from 'zod';
import type { Case, Condition, Rule, Starting } from './rule.js';

/** What a file of rules says. */
export interface RuleFile {
  readonly rules: readonly Rule[];
  readonly harmless: readonly HarmlessUse[];
}

/** A use of a program about which no rule asks a question. Rules with high risk, and effects on files, stay. */
export interface HarmlessUse {
  readonly program: string;
  /** The first words of the command; without them every use of the program. */
  readonly words?: readonly string[] | undefined;
}

let made: z.ZodType<RuleFile> | undefined;

/** Made on first use: most programs never read such a file. */
export function ruleFileSchema(): z.ZodType<RuleFile> {
  made ??= makeSchema();
  return made;
}

function makeSchema(): z.ZodType<RuleFile> {
  const text = z.string().min(1);
  const word = text.max(1000, 'has more than 1000 characters: give a list of shorter ones');
  const texts = z.union([word, z.array(word).min(1)]);
  const regex = z.strictObject({ regex: text, flags: z.enum(['i']).optional() }).transform(toExpression);
  const pattern = z.union([word, z.array(word).min(1), regex]);
  const conditionKeys = {
    program: pattern.optional(),
    verb: pattern.optional(),
    words: pattern.optional(),
    arg: pattern.optional(),
    line: pattern.optional(),
    option: text.optional(),
    value: z.record(text, pattern).optional(),
    operand: pattern.optional(),
    place: pattern.optional(),
    from: pattern.optional(),
    count: z.number().int().positive().optional(),
  };
  const condition = z.strictObject(conditionKeys) satisfies z.ZodType<Condition>;
  const picked = z.enum(['all', 'first', 'last', 'but-first', 'but-last']);
  const caseKeys = {
    ...conditionKeys,
    unless: condition.optional(),
    high: text.optional(),
    medium: text.optional(),
    high_when: condition.optional(),
    low: z.literal(true).optional(),
    writes: picked.optional(),
    removes: picked.optional(),
  };
  const says = ['high', 'medium', 'low', 'writes', 'removes'] as const;
  const oneCase = z
    .strictObject(caseKeys)
    .refine(
      (given) => says.some((key) => given[key] !== undefined),
      `says nothing: give one of ${says.join(', ')}`,
    )
    .transform(({ high_when: highWhen, ...rest }): Case => ({ ...rest, highWhen }));
  const starting = z
    .strictObject({
      values: text.optional(),
      skip: z.number().int().nonnegative().optional(),
      after_verb: z.literal(true).optional(),
      assignments: z.literal(true).optional(),
      elevated: z.literal(true).optional(),
      joined: z.literal(true).optional(),
      option: text.optional(),
      after: text.optional(),
    })
    .transform(({ after_verb: afterVerb, ...rest }): Starting => ({ ...rest, afterVerb }));
  const ruleSays = [...says, 'starts', 'cases'] as const;
  const rule = z
    .strictObject({
      programs: texts,
      values: text.optional(),
      ...caseKeys,
      cases: z.array(oneCase).min(1).optional(),
      starts: starting.optional(),
    })
    .refine(
      (given) => ruleSays.some((key) => given[key] !== undefined),
      `says nothing: give one of ${ruleSays.join(', ')}`,
    )
    .transform(({ high_when: highWhen, ...rest }): Rule => ({ ...rest, highWhen }));
  const harmless = z.strictObject({
    program: text.regex(/^[^*/\s]+$/, 'name one program, without directory and without *'),
    words: z.array(text).min(1).optional(),
  }) satisfies z.ZodType<HarmlessUse>;
  return z.strictObject({ rules: z.array(rule).default([]), harmless: z.array(harmless).default([]) });
}

function toExpression(
  { regex, flags }: { regex: string; flags?: string | undefined },
  context: z.RefinementCtx,
): RegExp {
  try {
    return new RegExp(regex, flags);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
}
