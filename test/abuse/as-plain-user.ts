/** Runs the attacks as a user without privileges: the command line, in a process of its own. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Verdict } from '../../src/testing/abuse/index.js';
import { builtFile } from '../built-file.js';

/** A user that owns nothing and that no other program runs as. */
const nobody = 65_534;

export const plainUser = { uid: nobody, gid: nobody };

/** A directory of the user's, to be removed, and what its programs find preset. */
export function plainHome(): { home: string; env: Readonly<Record<string, string>> } {
  const home = mkdtempSync(join(tmpdir(), 'workcell-nobody-'));
  chownSync(home, nobody, nobody);
  return { home, env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' } };
}

const attack = fileURLToPath(new URL('./attack.ts', import.meta.url));

/** Verdicts by the id of the case. */
export function attackAsPlainUser(): Promise<Map<string, Verdict>> {
  return verdictsOf([process.execPath, builtFile('cli/main.cjs'), 'doctor', '--attack', '--json']);
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

async function verdictsOf(argv: readonly string[], user = plainUser): Promise<Map<string, Verdict>> {
  const { home, env } = plainHome();
  try {
    const output = await capture(argv, { cwd: home, env, ...user });
    const { verdicts } = JSON.parse(output) as { verdicts: Verdict[] };
    return new Map(verdicts.map((verdict) => [verdict.id, verdict]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function capture(argv: readonly string[], place: SpawnOptions): Promise<string> {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
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
