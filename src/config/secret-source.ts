/** Reads a secret from the place that the configuration names. A missing secret stops the start. */
import { basename } from 'node:path';
import { findHostProgram } from '../base/find-program.js';
import { hideVariable } from '../base/hidden-variables.js';
import { reachTrusted, readTrusted } from '../base/trusted-path.js';
import type { SecretReference } from '../protocol/config-security.js';
import { WorkcellError } from '../protocol/errors.js';
import { printedBy } from './secret-command.js';

const longestSecret = 65_536;
const commandMs = 30_000;

interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** How long a command may take. */
  readonly limitMs?: number | undefined;
}

/**
 * `key` names the setting, such as `secrets.GITHUB_TOKEN`. Messages carry neither the secret nor the output of a
 * command.
 */
export async function readSecret(
  key: string,
  reference: SecretReference,
  patience: Patience = {},
): Promise<string> {
  const { env, file, command, value } = reference;
  const found =
    value ??
    fromVariable(key, env) ??
    fromFile(key, file) ??
    (await fromCommand(key, command ?? [], patience));
  if (found !== '') return found;
  throw missing(key, 'is empty. Set it, or leave the secret out.');
}

function fromVariable(key: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const value = process.env[name];
  if (value === undefined || value === '')
    throw missing(
      key,
      `comes from the variable ${name}, which is not set here. Set it, or leave the secret out.`,
    );
  hideVariable(name);
  return value;
}

function fromFile(key: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return withoutNewline(readTrusted(path, { maxBytes: longestSecret }).text);
  } catch (cause) {
    throw missing(key, `cannot be read: ${(cause as Error).message}.`, cause);
  }
}

async function fromCommand(
  key: string,
  [name = '', ...args]: readonly string[],
  { signal, limitMs = commandMs }: Patience,
): Promise<string> {
  const program = programOf(key, name);
  const printed = await printedBy(program, args, { limitMs, maxBytes: longestSecret, signal });
  if (printed === 'cancelled')
    throw new WorkcellError('cancelled', `The start was cancelled while the command of ${key} ran.`);
  if ('text' in printed) return withoutNewline(printed.text);
  throw missing(key, `comes from the command ${name}, which ${printed.failed}. Run it by hand to see why.`);
}

/** The path of a program that no other user can replace. */
function programOf(key: string, name: string): string {
  const isPath = name.startsWith('/');
  const found = findHostProgram(basename(name));
  if (found !== undefined && (isPath ? name === found : !name.includes('/'))) return found;
  if (!isPath) {
    const advice = 'Give a program that is installed on this machine, or its absolute path.';
    throw missing(key, `comes from ${JSON.stringify(name)}, which is not found. ${advice}`);
  }
  try {
    reachTrusted(name)[Symbol.dispose]();
    return name;
  } catch (cause) {
    throw missing(
      key,
      `comes from the command ${name}, which is not started: ${(cause as Error).message}.`,
      cause,
    );
  }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function missing(key: string, problem: string, cause?: unknown): WorkcellError {
  return new WorkcellError('invalid-config', `${key} ${problem}`, { details: { key }, cause });
}
