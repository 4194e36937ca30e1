/** Runs the attacks as a user without privileges: the command line, in a process of its own. */
import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Verdict } from '../../src/testing/abuse/index.js';
import { builtFile } from '../built-file.js';

/** A user that owns nothing and that no other program runs as. */
const nobody = 65_534;

const attack = fileURLToPath(new URL('./attack.ts', import.meta.url));

/** Verdicts by the id of the case. */
export function attackAsPlainUser(): Promise<Map<string, Verdict>> {
  return verdictsOf([process.execPath, builtFile('cli/main.js'), 'doctor', '--attack', '--json']);
}

/** The same for some cases, in control groups that belong to the user. */
export function attackInGroups(cases: RegExp, groups: readonly string[]): Promise<Map<string, Verdict>> {
  for (const group of groups)
    for (const file of ['', 'cgroup.procs']) chownSync(join(group, file), nobody, nobody);
  const enter = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"';
  const asUser = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];
  const argv = ['bash', '-c', enter, 'bash', ...groups, '--', ...asUser, ...withTsx(attack), cases.source];
  return verdictsOf(argv, { uid: 0, gid: 0 });
}

function withTsx(file: string): string[] {
  return [process.execPath, '--import', import.meta.resolve('tsx'), file];
}

async function verdictsOf(
  argv: readonly string[],
  user = { uid: nobody, gid: nobody },
): Promise<Map<string, Verdict>> {
  const home = mkdtempSync(join(tmpdir(), 'workcell-nobody-'));
  chownSync(home, nobody, nobody);
  try {
    const output = await capture(argv, home, user);
    const { verdicts } = JSON.parse(output) as { verdicts: Verdict[] };
    return new Map(verdicts.map((verdict) => [verdict.id, verdict]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function capture(argv: readonly string[], home: string, user: { uid: number; gid: number }): Promise<string> {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd: home,
    ...user,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      if (output.startsWith('{"backend"')) resolve(output);
      else reject(new Error(`The attacks gave no scorecard: ${output}${complaint}`));
    });
  });
}
