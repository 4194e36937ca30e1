/** The user that a client wants commands to run as: found or made, with the working directory as its own. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostEnvironment, hostProgram } from '../../base/find-program.js';
import type { User } from '../../cell/launchers/uid-launcher.js';
import { WorkcellError } from '../../protocol/index.js';

export interface AskedUser {
  readonly name: string;
  /** For an account that we have to create; an existing one keeps its own. */
  readonly uid: number;
}

/** Undefined for the user of the server itself. Needs root for any other. */
export function provideUser({ name, uid }: AskedUser, workingDirectory: string): User | undefined {
  const known = findAccount(name);
  if ((known?.uid ?? uid) === process.getuid?.()) return undefined;
  if (process.getuid?.() !== 0) {
    throw new WorkcellError(
      'permission-denied',
      `Commands can run as user "${name}" only when root starts the server.`,
      { details: { user: name } },
    );
  }
  if (known?.uid === 0 || (known === undefined && (uid === 0 || name === 'root'))) {
    throw new WorkcellError('invalid-config', `User "${name}" and number ${uid} do not belong together.`);
  }
  const account = known ?? makeAccount(name, uid);
  giveAway(workingDirectory, account);
  return { uid: account.uid, gid: account.gid };
}

function findAccount(name: string): User | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((entry) => entry.split(':'))
    .find((fields) => fields[0] === name);
  return line === undefined ? undefined : { uid: Number(line[2]), gid: Number(line[3]) };
}

/** With its own home and group instead of root's. */
function makeAccount(name: string, uid: number): User {
  const place = ['--create-home', '--home-dir', `/home/${name}`, '--shell', '/bin/bash'];
  runTool('useradd', ['--no-log-init', '--user-group', '--uid', String(uid), ...place, '--', name]);
  const account = findAccount(name);
  if (account !== undefined) return account;
  throw new WorkcellError('backend-unavailable', `The system made the user "${name}" and does not find it.`);
}

/** Everything in there, links themselves included. Never give away the root directory. */
function giveAway(directory: string, { uid, gid }: User): void {
  if (directory.split('/').filter(Boolean).length === 0) return;
  runTool('chown', ['--recursive', '--no-dereference', '-P', '--', `${uid}:${gid}`, directory]);
  runTool('chmod', ['g+rwx', '--', directory]);
}

function runTool(program: string, args: readonly string[]): void {
  try {
    execFileSync(hostProgram(program), args, {
      env: hostEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string };
    throw new WorkcellError('invalid-config', `"${program}" failed: ${stderr?.trim() || message}.`, {
      cause,
    });
  }
}
