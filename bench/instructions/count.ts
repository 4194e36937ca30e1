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

const names = ['reference', 'masking', 'rules', 'terminal output', 'schemas'] as const;

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
      target: 'node20',
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
      timeout: 240_000,
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

/** Node calls `umask` twice for one `process.umask`, so of each part there is what came before it, a gap, itself and a gap. */
const dumpsEach = 4;
const ownDump = 2;

function countsIn(folder: string): Counts {
  const dumps = readdirSync(folder)
    .map((name) => /^count\.(\d+)$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => totalOf(readFileSync(join(folder, `count.${number}`), 'utf8')));
  const counts = names.map((name, index) => [name, dumps[index * dumpsEach + ownDump]] as const);
  // Fewer than this means that something else was counted, such as such a gap.
  const least = 10_000;
  if (counts.some(([, count = 0]) => count < least))
    throw new Error(`These are no counts of the parts: ${dumps.join(', ')}.`);
  return Object.fromEntries(counts) as Counts;
}

function totalOf(dump: string): number {
  const [, total] = /^(?:totals|summary): (\d+)/m.exec(dump) ?? [];
  if (total === undefined) throw new Error('A dump of the counter has no total.');
  return Number(total);
}

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(await countInstructions(), null, 2));
