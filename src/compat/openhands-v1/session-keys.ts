/** Where the session keys of a server come from. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { WorkcellError } from '../../protocol/index.js';

export interface FoundKeys {
  readonly keys: readonly string[];
  /** False when the caller gave none and we generated one. */
  readonly given: boolean;
}

/** Variables of the original that hold keys; none of them is for the commands of a cell. */
const keyVariable = /^(OH_SESSION_API_KEYS_\d+|SESSION_API_KEY|OH_SECRET_KEY)$/;

/** Reads the keys from a file or the variables of the original, and removes those variables. */
export function takeSessionKeys(environment: NodeJS.ProcessEnv, file: string | undefined): FoundKeys {
  const variables = Object.entries(environment)
    .filter(([name]) => keyVariable.test(name))
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  for (const [name] of variables) delete environment[name];
  const keys = file === undefined ? keysAmong(variables) : keysIn(file);
  if (keys.length > 0) return { keys, given: true };
  return { keys: [randomBytes(24).toString('base64url')], given: false };
}

function keysAmong(variables: readonly [string, string | undefined][]): string[] {
  const values = (wanted: (name: string) => boolean) =>
    variables.filter(([name]) => wanted(name)).flatMap(([, value]) => (value ? [value] : []));
  const numbered = values((name) => name.startsWith('OH_SESSION_API_KEYS_'));
  return numbered.length > 0 ? numbered : values((name) => name === 'SESSION_API_KEY');
}

function keysIn(file: string): string[] {
  try {
    const keys = readFileSync(file, 'utf8')
      .split(/\s+/)
      .filter((key) => key !== '');
    if (keys.length > 0) return keys;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError(
      'invalid-config',
      `The server cannot read the session keys from ${file}: ${reason}.`,
      {
        cause,
      },
    );
  }
  throw new WorkcellError('invalid-config', `${file} holds no session key; write one on each line.`);
}
