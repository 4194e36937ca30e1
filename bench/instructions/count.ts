/**
 * Instructions that the pure parts take. A count does not depend on how busy a machine is, so it can hold a bar where a clock
 * cannot. Node interprets here, without its compilers, threads and random seeds, so that the same work takes the same way.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const names = ['masking', 'rules', 'terminal output', 'schemas'] as const;

export type Counts = Readonly<Record<(typeof names)[number], number>>;

export async function countInstructions(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-instructions-'));
  try {
    const program = join(folder, 'workload.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('workload.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // Packages in the older form ask for their parts by `require`.
      banner: {
        js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
      },
      logLevel: 'error',
    });
    const counter = ['--tool=callgrind', '--smc-check=all-non-file', '--dump-before=umask'];
    const same = ['--jitless', '--single-threaded', '--predictable', '--hash-seed=1', '--random-seed=1'];
    const argv = [
      'valgrind',
      ...counter,
      `--callgrind-out-file=${folder}/count`,
      process.execPath,
      ...same,
      program,
    ];
    const { status, stderr, error } = spawnSync('setarch', ['--addr-no-randomize', ...argv], {
      encoding: 'utf8',
      cwd: folder,
      // What is in the environment would be copied, and counted.
      env: { PATH: process.env.PATH ?? '' },
    });
    if (error) throw error;
    if (status !== 0) throw new Error(`The counter failed: ${stderr.slice(-1000)}`);
    return countsIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first dump ends where the first part begins; from then on one is of a part, and the next of what lies before the next part. */
function countsIn(folder: string): Counts {
  const dumps = readdirSync(folder)
    .map((name) => /^count\.(\d+)$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => totalOf(readFileSync(join(folder, `count.${number}`), 'utf8')));
  if (dumps.length < names.length * 2)
    throw new Error(`The counter gave ${dumps.length} counts in place of ${names.length * 2}.`);
  return Object.fromEntries(names.map((name, index) => [name, dumps[index * 2 + 1]])) as Counts;
}

function totalOf(dump: string): number {
  const [, total] = /^(?:totals|summary): (\d+)/m.exec(dump) ?? [];
  if (total === undefined) throw new Error('A dump of the counter has no total.');
  return Number(total);
}

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(await countInstructions(), null, 2));
