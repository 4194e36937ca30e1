import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { Command } from 'commander';
import type { Probe } from '../../backends/backend.js';
import { callerProgramNames, callerPrograms } from '../../backends/sandbox/caller-programs.js';
import { findHostProgram, hostEnvironment } from '../../base/find-program.js';
import { isInstalled, optionalPackages } from '../../base/optional-package.js';
import type { LoadedConfig } from '../../config/load-config.js';
import type { Verdict } from '../../testing/abuse/index.js';
import { plainText } from '../sanitize.js';
import { Progress } from '../start-progress.js';
import { dim, formatTable, green } from '../text-table.js';

/** Programs that Workcell uses where they are present, and what for. */
const programs = {
  bash: 'shell sessions',
  git: 'work on repositories',
  bwrap: 'namespace isolation',
} as const;

const notes = `
Shows for each backend whether it can start a cell on this machine, the
isolation that it enforces, and what to install or change to get more.

With --attack: starts cells with small limits and attacks them, each attack next
to something permitted that must still work. It takes some minutes and nothing
leaves this machine. Exit code 0 only if every attack had the expected result.
"not claimed" marks an attack that the cell does not promise to withstand here.`;

/** `workcell doctor`: what this machine can do. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Show which backends can start here')
    .option('--details', 'show what cells of each backend enforce, too')
    .option('--attack', 'attack cells of a backend and print a scorecard')
    .option('-b, --backend <name>', 'backend to attack, or a package or file to show, too', 'sandbox')
    .option('--image <reference>', 'image of the cells to attack, for docker')
    .option('--oci-runtime <name>', 'OCI runtime of the cells to attack, for docker')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(doctor);
}

interface DoctorOptions {
  attack?: true;
  details?: true;
  backend: string;
  image?: string;
  ociRuntime?: string;
  json?: true;
}

async function doctor(options: DoctorOptions): Promise<void> {
  if (options.attack) return attack(options);
  const [backends, found, network] = await Promise.all([
    probeBackends(options.backend),
    findPrograms(),
    tryNetwork(),
  ]);
  const packages = Object.fromEntries(Object.keys(optionalPackages).map((name) => [name, isInstalled(name)]));
  const report = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    programs: found,
    packages,
    gpu: await findGpus(),
    network,
    backends,
    cell: await contentOfCell(),
  };
  if (options.json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  process.stdout.write(describe(report));
  if (options.details) process.stdout.write(await describeFacts(backends));
  else process.stdout.write('\nWhat cells enforce: workcell doctor --details\n');
}

async function attack({ backend, image, ociRuntime, json }: DoctorOptions): Promise<void> {
  const { abuseCases, runCase } = await import('../../testing/abuse/index.js');
  const { createRuntime } = await import('../../create-runtime.js');
  // Start one cell beforehand: a backend that cannot start, or isolates nothing, is one error and not seventy.
  const own = { ...(image !== undefined && { image }), ...(ociRuntime !== undefined && { ociRuntime }) };
  const trial = await createRuntime({ config: false, backend, ...own, minIsolation: 'namespace' } as never);
  await trial.close();
  const progress = new Progress();
  const verdicts: Verdict[] = [];
  try {
    for (const [index, abuse] of abuseCases.entries()) {
      progress.show(`${index + 1}/${abuseCases.length}  ${abuse.title}`);
      verdicts.push(await runCase(abuse, backend, own));
    }
  } finally {
    progress.end();
  }
  process.stdout.write(json ? `${JSON.stringify({ backend, verdicts })}\n` : scorecard(verdicts));
  if (verdicts.some(({ result }) => result === 'failed' || result === 'not-run')) process.exitCode = 1;
}

function scorecard(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ id, expected, result, title, detail, reason }) => [
    id,
    expected,
    result.replace('-', ' '),
    `${title}: ${reason === undefined ? detail : `${detail} (not claimed: ${reason})`}`,
  ]);
  const count = (result: Verdict['result']) => verdicts.filter((verdict) => verdict.result === result).length;
  const table = formatTable(['CASE', 'EXPECTED', 'RESULT', 'WHAT CAME OF IT'], rows, styleOf);
  const summary = `${verdicts.length} attacks: ${count('held')} held, ${count('not-claimed')} not claimed, ${count('failed')} failed, ${count('not-run')} not run.`;
  // The table is longer than a screen, so repeat below it what needs a person.
  const wrong = verdicts.filter(({ result }) => result === 'failed' || result === 'not-run');
  const reminder = wrong.map(({ id, result, detail }) => `  ${id} ${result.replace('-', ' ')}: ${detail}`);
  return [table, '', summary, ...reminder, ''].join('\n');
}

interface Report {
  node: string;
  platform: string;
  programs: Record<string, string | null>;
  /** Whether each optional package is installed. */
  packages: Record<string, boolean>;
  /** NVIDIA cards that a cell can get here. */
  gpu: Gpus;
  network: NetworkObstacles;
  backends: Record<string, Probe>;
  /** Where a sandbox will have programs that agents use. */
  cell: Record<string, string | null>;
}

/** The system's programs, those of yours that the cell sees, and what one with this directory as workspace adds. */
async function contentOfCell(): Promise<Report['cell']> {
  const { callerGitIdentity } = await import('../../backends/sandbox/git-identity.js');
  const { workspaceEnvironment } = await import('../../backends/sandbox/python-environment.js');
  const { programs: found, mounts } = callerPrograms();
  const directory = realpathSync('.');
  const identity = await callerGitIdentity(directory);
  const python = workspaceEnvironment(directory, { path: '', seen: mounts });
  return {
    ...Object.fromEntries(callerProgramNames.map((name) => [name, found[name] ?? null])),
    'git identity': identity === undefined ? null : plainText(Object.values(identity).join(', ')),
    'python of .venv': python?.VIRTUAL_ENV ?? null,
  };
}

/** Why no sandbox here can have it; null when it can. */
interface NetworkObstacles {
  /** Rules on hosts, and the ports that they name. */
  rules: string | null;
  /** All ports, as `open` and rules such as `example.com:*` ask for. */
  open: string | null;
}

/** Starts cells with them: what a kernel has says little of what it lets this user do. */
async function tryNetwork(): Promise<NetworkObstacles> {
  const { z } = await import('zod');
  const { sandboxOptions } = await import('../../backends/sandbox/sandbox-options.js');
  const { startSandbox } = await import('../../backends/sandbox/start-sandbox.js');
  const obstacle = async (network: unknown) => {
    try {
      const cell = await startSandbox(z.object(sandboxOptions).parse({ network }));
      await cell.stop();
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const [rules, open] = await Promise.all([obstacle({ allow: [] }), obstacle('open')]);
  return { rules, open };
}

interface Gpus {
  /** Of the driver; null without one. */
  driver: string | null;
  cards: { index: number; id: string | null; model: string | null }[];
  /** Why no cell can get one; null when it can. */
  obstacle: string | null;
}

async function findGpus(): Promise<Gpus> {
  const { findCards } = await import('../../backends/sandbox/gpu/cards.js');
  const { giveGpu } = await import('../../backends/sandbox/gpu/give-gpu.js');
  const { version, cards } = findCards();
  const found = {
    driver: version ?? null,
    cards: cards.map(({ index, uuid, model }) => ({ index, id: uuid ?? null, model: model ?? null })),
  };
  try {
    giveGpu(true);
    return { ...found, obstacle: null };
  } catch (error) {
    return { ...found, obstacle: error instanceof Error ? error.message : String(error) };
  }
}

/** The backends of this package, those that your configuration names, and the typed one. */
async function probeBackends(typed: string): Promise<Report['backends']> {
  const { backendNames, loadBackend } = await import('../../backends/index.js');
  const { placeOf } = await import('../../cells.js');
  const config = await knownConfig(typed);
  const own = backendNames.map((name) => ({ name, load: () => loadBackend(name) }));
  const probes = [...own, ...(config?.outside ?? [])].map(async ({ name, load }) => {
    let title = name;
    const answer = await probe(async () => {
      const backend = await load();
      title = backend.type;
      return backend.probe(config === undefined ? {} : placeOf(backend, config, {}));
    });
    return [title, answer] as const;
  });
  return Object.fromEntries(await Promise.all(probes));
}

/** A mistake in the configuration is no reason to say nothing of this machine. */
async function knownConfig(typed: string): Promise<LoadedConfig | undefined> {
  const { loadConfig } = await import('../../config/load-config.js');
  const sources = { cwd: process.cwd(), env: process.env, overrides: { backend: typed }, lenient: true };
  try {
    return await loadConfig(sources);
  } catch (error) {
    process.stderr.write(`workcell: ${plainText(error instanceof Error ? error.message : String(error))}\n`);
    return undefined;
  }
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

async function versionOf(name: string): Promise<string | null> {
  const program = findHostProgram(name);
  if (program === undefined) return null;
  try {
    const options = { env: hostEnvironment(), timeout: 5000 };
    const { stdout } = await promisify(execFile)(program, ['--version'], options);
    return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'found';
  } catch {
    return null;
  }
}

function describe(report: Report): string {
  const { node, platform, programs: found, packages, gpu, network, backends, cell } = report;
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
  const packageRows = Object.entries(packages).map(([name, isThere]) => [
    name,
    isThere ? 'yes' : 'no',
    optionalPackages[name as keyof typeof optionalPackages],
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
    ...describeGpus(gpu),
    describeNetwork(network),
    '',
    formatTable(
      ['IN A SANDBOX', 'FROM'],
      Object.entries(cell).map(([name, path]) => [name, path ?? 'not found']),
      styleOf,
    ),
    '',
    formatTable(['OPTIONAL PACKAGE', 'INSTALLED', 'USED FOR'], packageRows, styleOf),
    '',
  ].join('\n');
}

/** One row for each fact that a probe found. */
async function describeFacts(backends: Report['backends']): Promise<string> {
  const { describeFact } = await import('../../protocol/index.js');
  const rows = Object.entries(backends).flatMap(([name, { facts = [] }]) =>
    facts.map((fact) => [
      name,
      fact.code,
      fact.enforced ? 'yes' : 'no',
      describeFact(fact).slice(`${fact.code}: `.length),
    ]),
  );
  return `\n${formatTable(['A CELL OF', 'FACT', 'ENFORCED', 'WHAT IT SAYS'], rows, styleOf)}\n`;
}

function describeNetwork({ rules, open }: NetworkObstacles): string {
  if (rules !== null) return `Network rules: a sandbox cannot have them here. ${rules}`;
  return open === null
    ? 'Network rules: a sandbox can have them, on every port.'
    : `Network rules: a sandbox can have them, on the ports that they name. ${open}`;
}

/** A machine without a card has nothing to repair. */
function describeGpus({ driver, cards, obstacle }: Gpus): string[] {
  if (cards.length === 0 && driver === null) return ['GPU: none found (NVIDIA).'];
  const rows = cards.map(({ index, id, model }) => [
    String(index),
    obstacle === null ? 'yes' : 'no',
    model ?? '-',
    id ?? '-',
    driver ?? '-',
  ]);
  return [
    formatTable(['GPU', 'FOR CELLS', 'MODEL', 'ID', 'DRIVER'], rows, styleOf),
    ...(obstacle === null ? [] : [`  ${obstacle}`]),
  ];
}

function styleOf(cell: string): (text: string) => string {
  if (cell === 'yes' || cell === 'held') return green;
  return cell === 'no' || cell === 'not found' || cell === 'not claimed' ? dim : (text) => text;
}
