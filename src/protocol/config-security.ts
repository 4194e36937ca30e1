/** The settings that say what may run in a cell, and what must not leave it: `[security]` and `[secrets]`. */
import * as z from 'zod';
import { about, filePath, secretText, storeName } from './config-marks.js';

const outcomes = ['allow', 'confirm', 'deny'] as const;
const risks = ['low', 'medium', 'high', 'unknown'] as const;

const seconds = z.number().positive().max(86_400).describe('seconds, a number above 0 and at most 86400');
const texts = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/** Where a secret comes from: a reference to it rather than its value. */
const secretSource = {
  env: about(
    'A variable of this process. Commands of backends that run on this machine do not inherit it.',
    z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable')
      .optional(),
  ),
  file: about('A file that holds it. A newline at its end does not count.', filePath().optional()),
  command: about(
    'A program of this machine and its arguments, such as `["pass", "show", "github"]`, that prints it.',
    z.array(z.string()).min(1).optional(),
  ),
  value: about('The secret itself, in a file that only you can read (mode 0600).', secretText().optional()),
};

const sourceNames = Object.keys(secretSource) as (keyof typeof secretSource)[];

function hasOneSource(given: Readonly<Record<string, unknown>>): boolean {
  return sourceNames.filter((name) => given[name] !== undefined).length === 1;
}

const needsOneSource = `must have exactly one of ${sourceNames.join(', ')}`;

const secretReferenceSchema = z.strictObject(secretSource).refine(hasOneSource, needsOneSource);

const secretSchema = z
  .strictObject({
    ...secretSource,
    reach: about(
      '`none` only hides it; `env` also sets it as a variable of chosen commands; `network` sets a placeholder, which the gateway of a cell with network rules replaces in requests to `hosts`. Default: `none`.',
      z.enum(['none', 'env', 'network']).optional(),
    ),
    commands: about(
      'The simple commands that get it, such as `gh *`. Default: those that mention its name.',
      z.array(z.string().min(1)).optional(),
    ),
    hosts: about(
      'Servers, such as `github.com`, that git may send it to as a password, or that requests with it go to. Default: none.',
      z.array(z.string().min(1)).optional(),
    ),
    body: about(
      'With reach `network`: put it into bodies of requests, too. Default: false.',
      z.boolean().optional(),
    ),
  })
  .refine(hasOneSource, needsOneSource);

export const secretsSchema = z
  .record(z.string().regex(/^[A-Za-z_]\w*$/, 'must be a name that a variable can have'), secretSchema)
  .default({});

const ruleSchema = z.strictObject({
  decision: about('What becomes of an action that the rule matches.', z.enum(outcomes)),
  reason: about('Told to who asked, and recorded.', z.string().optional()),
  action: about('Names of actions; `*` stands for any text.', texts.optional()),
  command: about('Simple commands with their words, such as `npm *`.', texts.optional()),
  path: about('Paths; `*` stays in one directory, `**` does not.', texts.optional()),
  host: about('Servers that the action names.', texts.optional()),
  tool: about('Names of tools.', texts.optional()),
  risk: about('Risks that it is for.', z.union([z.enum(risks), z.array(z.enum(risks)).min(1)]).optional()),
});

/** What a policy decides by; a file that `policy_file` names has the same keys. */
const decisions = {
  rules: about(
    'The first rule that matches decides, those of code before these; with none, the risk does.',
    z.array(ruleSchema).optional(),
  ),
  on_risk: about(
    'The decision for each risk. Default: low allow, medium confirm, high deny, unknown confirm.',
    z
      .strictObject({
        low: z.enum(outcomes).optional(),
        medium: z.enum(outcomes).optional(),
        high: z.enum(outcomes).optional(),
        unknown: z.enum(['confirm', 'deny']).optional(),
      })
      .optional(),
  ),
  mode: about(
    '`by-risk`; `always` asks about whatever no rule decides; `never` asks nobody. Default: `by-risk`.',
    z.enum(['by-risk', 'always', 'never']).optional(),
  ),
  outside_workspace: about(
    'The decision about paths outside of the workspace. Default: as the rules and the risk say.',
    z.enum(['confirm', 'deny']).optional(),
  ),
};

/** The content of a file that `security.policy_file` names. */
export const policyFileSchema = z.strictObject(decisions);

/** Where a model is. */
export const endpointFields = {
  base_url: about(
    'An OpenAI-compatible endpoint, up to and with the version, such as `https://api.openai.com/v1`.',
    z.url({ protocol: /^https?$/ }),
  ),
  model: about('The name of the model.', z.string().min(1)),
  api_key: about('Where its key comes from, as for a secret.', secretReferenceSchema.optional()),
};

const llmSchema = z.strictObject({
  ...endpointFields,
  threshold: about(
    'The highest score that passes, of 1 to 3. Default: 2.',
    z.number().min(1).max(3).optional(),
  ),
  timeout: about('Seconds; without an answer the guard refuses the action. Default: 20.', seconds.optional()),
});

const auditSchema = z
  .strictObject({
    file: about('A file for the record.', filePath().optional()),
    rotate_bytes: about(
      'Renames a file that has grown to this, and the chain continues. Default: 67108864.',
      z.int().min(1024).optional(),
    ),
    sync: about('Waits for the disk after each record. Default: true.', z.boolean().optional()),
    store: about(
      '`true`: with the events; or the name of a store, in the form of `events.store`.',
      z
        .union([
          z.literal(true),
          storeName(
            /^(sqlite:.+|postgres(ql)?:\/\/.+)$/s,
            'sqlite:<file> or postgres://<user>@<host>/<database>',
          ),
        ])
        .optional(),
    ),
  })
  .refine(({ file, store }) => (file === undefined) !== (store === undefined), 'must have file or store');

export const securitySchema = z
  .strictObject({
    guards: about(
      'Who judges the risk of actions: `rules`, `llm`, or packages and files that export an analyzer. With any other key of the policy and without guards: `rules`.',
      z.array(z.string().min(1)).describe('a list of rules, llm, packages or files').optional(),
    ),
    rule_files: about(
      'Files with rules of your own, which the guard `rules` then judges by, too.',
      z.array(filePath()).describe('a list of files').optional(),
    ),
    ...decisions,
    policy_file: about(
      'A TOML or JSON file with `rules`, `on_risk`, `mode` and `outside_workspace`. What stands here wins over it, and its rules come after those here.',
      filePath().optional(),
    ),
    confirm: about(
      'Who answers questions: `terminal` (the person at the command line), `store` (whoever answers with `workcell events`), or `nobody`, so that a question is a refusal. Default: `nobody`.',
      z.enum(['nobody', 'terminal', 'store']).optional(),
    ),
    confirm_timeout: about(
      'Seconds, after which a question counts as denied. Default: 300.',
      seconds.optional(),
    ),
    analyzer_timeout: about(
      'Seconds; a guard that takes longer counts as unknown. Default: 30.',
      seconds.optional(),
    ),
    llm: about('The model of the guard `llm`.', llmSchema.optional()),
    audit: about('Where to keep the audit record. Default: there is none.', auditSchema.optional()),
  })
  .prefault({});

export type SecuritySettings = z.output<typeof securitySchema>;
export type SecretReference = z.output<typeof secretReferenceSchema>;
