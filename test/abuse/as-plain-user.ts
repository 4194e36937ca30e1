/** Runs the attacks as a user without privileges: the command line, in a process of its own. */
import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Verdict } from '../../src/testing/abuse/index.js';

/** A user that owns nothing and that no other program runs as. */
const nobody = 65_534;

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Verdicts by the id of the case. */
export async function attackAsPlainUser(): Promise<Map<string, Verdict>> {
  const home = mkdtempSync(join(tmpdir(), 'workcell-nobody-'));
  chownSync(home, nobody, nobody);
  try {
    const output = await capture(
      [process.execPath, '--import', import.meta.resolve('tsx'), main, 'doctor', '--attack', '--json'],
      home,
    );
    const { verdicts } = JSON.parse(output) as { verdicts: Verdict[] };
    return new Map(verdicts.map((verdict) => [verdict.id, verdict]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function capture(argv: readonly string[], home: string): Promise<string> {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd: home,
    uid: nobody,
    gid: nobody,
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
