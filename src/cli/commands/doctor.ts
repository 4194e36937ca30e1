import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Command } from 'commander';
import type { Probe } from '../../backends/backend.js';
import { dim, formatTable, green } from '../table.js';

/** Programs that Workcell uses where they are present, and what for. */
const programs = {
  bash: 'shell sessions',
  git: 'work on repositories',
  rg: 'faster search',
  bwrap: 'namespace isolation',
} as const;

const notes = `
For each backend: whether it can start a cell on this machine, the isolation it
would enforce, and what to install or change to get more.`;

/** `workcell doctor`: what this machine can do. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Show which backends can run here')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(doctor);
}

async function doctor(options: { json?: true }): Promise<void> {
  const [backends, found] = await Promise.all([probeBackends(), findPrograms()]);
  const report = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    programs: found,
    backends,
  };
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : describe(report));
}

interface Report {
  node: string;
  platform: string;
  programs: Record<string, string | null>;
  backends: Record<string, Probe>;
}

async function probeBackends(): Promise<Report['backends']> {
  const { backendNames, loadBackend } = await import('../../backends/index.js');
  const probes = backendNames.map(async (name) => [
    name,
    await probe(async () => (await loadBackend(name)).probe()),
  ]);
  return Object.fromEntries(await Promise.all(probes));
}

/** A probe that breaks is a finding, and must not hide the others. */
async function probe(ask: () => Promise<Probe>): Promise<Probe> {
  try {
    return await ask();
  } catch (error) {
    const summary = `The probe failed: ${error instanceof Error ? error.message : String(error)}`;
    return { available: false, tier: 'none', summary, advice: [] };
  }
}

async function findPrograms(): Promise<Report['programs']> {
  const found = Object.keys(programs).map(async (name) => [name, await versionOf(name)]);
  return Object.fromEntries(await Promise.all(found));
}

async function versionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 5000 });
    return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'found';
  } catch {
    return null;
  }
}

function describe({ node, platform, programs: found, backends }: Report): string {
  const backendRows = Object.entries(backends).map(([name, { available, tier, summary }]) => [
    name,
    available ? 'yes' : 'no',
    available ? tier : '-',
    summary,
  ]);
  const advice = Object.entries(backends).flatMap(([name, probe]) =>
    probe.advice.map((line) => `  ${name}: ${line}`),
  );
  const programRows = Object.entries(found).map(([name, version]) => [
    name,
    version ?? 'not found',
    programs[name as keyof typeof programs],
  ]);
  return [
    formatTable(['BACKEND', 'HERE', 'ISOLATION', 'WHAT IT DOES'], backendRows, styleOf),
    ...(advice.length > 0 ? ['', 'To get more:', ...advice] : []),
    '',
    formatTable(
      ['PROGRAM', 'VERSION', 'USED FOR'],
      [['node', node.slice(1), platform], ...programRows],
      styleOf,
    ),
    '',
  ].join('\n');
}

function styleOf(cell: string): (text: string) => string {
  if (cell === 'yes') return green;
  return cell === 'no' || cell === 'not found' ? dim : (text) => text;
}
