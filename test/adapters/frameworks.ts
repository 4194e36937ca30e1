/** Frameworks in a folder of their own, with the Node they ask for. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
export const folder = join(checkout, '.cache/frameworks');

/** The Node that they ask for. */
export const node = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);

/** A compiler with the types of a whole framework takes its time on a busy machine. */
const longest = 350_000;
export const patience = { timeout: 360_000 };

/** Why the tests with a framework cannot run here; in CI they have to. */
export const obstacle =
  existsSync(join(folder, 'installed')) || process.env.CI === 'true'
    ? undefined
    : 'skipped: scripts/setup --tests installs the frameworks';

/** A package of that folder, for a program that `runProgram` started. */
export const framework: (name: string) => unknown = createRequire(join(folder, 'package.json'));

/** Runs a program of `programs/` with the newer Node; it ends with an error when something does not hold. */
export function runProgram(name: string): { status: number | null; output: string } {
  const file = join(checkout, 'test/adapters/programs', name);
  const { status, stdout, stderr, error } = spawnSync(node, ['--import', 'tsx', file], {
    cwd: checkout,
    encoding: 'utf8',
    timeout: longest,
  });
  if (error !== undefined) throw error;
  return { status, output: `${stdout}${stderr}` };
}

/** What the compiler says about programs that import from the frameworks: one, or several by their file names. */
export function compile(programs: string | Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(folder, 'compile-'));
  try {
    const files = typeof programs === 'string' ? { 'program.mts': programs } : programs;
    for (const [name, source] of Object.entries(files)) writeFileSync(join(scratch, name), source);
    const config = { extends: '../../../tsconfig.json', include: ['*.mts'], files: [] };
    writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(checkout, 'node_modules/.bin/tsc');
    const { stdout, error } = spawnSync(compiler, ['-p', scratch], { encoding: 'utf8', timeout: longest });
    // A compiler that was ended has found nothing, and says nothing.
    if (error !== undefined) throw error;
    return stdout;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
