/** The policy that `security.policy_file` names: decisions in a separate file, below those of the settings. */
import type { z } from 'zod';
import { policyFileSchema, type SecuritySettings } from '../protocol/config-security.js';
import { WorkcellError } from '../protocol/errors.js';
import { parseConfigFile, readNamedFile } from './file.js';
import type { LoadedConfig } from './load-config.js';
import { codeDirectory } from './named-code.js';
import { describeProblems } from './problems.js';

/** The security settings, completed from the file. */
export function withPolicyFile(config: LoadedConfig): SecuritySettings {
  const { security } = config.values;
  const { policy_file: path } = security;
  if (path === undefined) return security;
  codeDirectory(config, { key: 'security.policy_file', what: 'policy', names: [path], isOwn: () => false });
  const { rules = [], on_risk: onRisk, ...rest } = readPolicy(path);
  const said = Object.fromEntries(Object.entries(security).filter(([, value]) => value !== undefined));
  return {
    ...rest,
    ...said,
    rules: [...(security.rules ?? []), ...rules],
    on_risk: { ...onRisk, ...security.on_risk },
  };
}

function readPolicy(path: string): z.output<typeof policyFileSchema> {
  const file = readNamedFile(path);
  const content = path.endsWith('.json') ? parseJson(path, file.text) : parseConfigFile(file);
  const result = policyFileSchema.safeParse(content);
  if (result.success) return result.data;
  const problems = describeProblems(content, policyFileSchema, result.error);
  throw refused(path, `is not accepted: ${problems}.`);
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refused(path, `is not valid JSON: ${(cause as Error).message}.`);
  }
}

function refused(path: string, problem: string): WorkcellError {
  return new WorkcellError('invalid-config', `The policy file ${path} ${problem}`, {
    details: { file: path },
  });
}
