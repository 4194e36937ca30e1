/**
 * The owner of a hostile cell, in a process of its own: when it aborts, hangs or throws, that is what its parent looks for.
 * Tells its parent each round before it begins and what came of it.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executorBundle } from '../../src/backends/images/bundle/executor-bundle.js';
import { type CreateRuntimeOptions, createRuntime, type Runtime } from '../../src/index.js';
import { createRound, type Finding, type FuzzCell, Unanswered } from './cell.js';
import { cellVariable } from './generators/control.js';
import { watchLoop } from './loop-watch.js';
import type { FromOwner, OwnerSettings } from './messages.js';
import { Random } from './random.js';
import { type Surface, type SurfaceName, surfaces } from './surfaces/index.js';

/** DESIGN: no stall of the owner's loop by anything that a cell does may be longer. */
const longestStallMs = 100;

const settings = JSON.parse(process.argv[2] ?? '') as OwnerSettings;
const surface: Surface = surfaces[settings.surface as SurfaceName];
const workspace = mkdtempSync(join(tmpdir(), 'fuzz-workspace-'));
process.once('exit', () => rmSync(workspace, { recursive: true, force: true }));
process.once('disconnect', () => process.exit());

const alive = setInterval(() => send({ type: 'alive' }), 1000);
const watch = await watchLoop();
let cell = await open();
// Everything that loads on first use has loaded by now, and has taken its memory.
await surface.warmUp(createRound(cell, { random: new Random(0), seed: 0, watch, found: [] }));
watch.take();
const baseBytes = process.memoryUsage.rss();

const end = performance.now() + settings.seconds * 1000;
for (let count = 0; count < settings.rounds && (count === 0 || performance.now() < end); count++) {
  const seed = settings.seed + count;
  send({ type: 'round', seed });
  const first = await play(seed);
  const slow = first.findings.filter(isOfTime);
  // A machine that others use too can be slow once, not twice at the same place.
  const again = slow.length === 0 ? [] : (await play(seed)).findings.filter(isOfTime);
  const findings = [...first.findings.filter((one) => !isOfTime(one)), ...again];
  send({ type: 'done', seed, ...first, findings, once: again.length === 0 ? slow : [] });
}
await closeCell(cell.runtime);
await watch.close();
clearInterval(alive);
send({ type: 'finished' });
process.disconnect();

async function play(seed: number): Promise<{ findings: Finding[]; stallMs: number; grownBytes: number }> {
  const found: Finding[] = [];
  watch.take();
  let lost = false;
  const round = createRound(cell, { random: new Random(seed), seed, watch, found });
  try {
    await surface.round(round);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    lost = true;
  }
  const { stallMs, residentBytes } = watch.take();
  const grownBytes = residentBytes - baseBytes;
  if (stallMs > longestStallMs)
    found.push({
      kind: 'stalled',
      detail: `The event loop stood still for ${Math.round(stallMs)} ms, in ${round.longestStall()}.`,
    });
  if (grownBytes > surface.mostBytes)
    found.push({
      kind: 'memory',
      detail: `The owner grew by ${grownBytes >> 20} MiB, over ${surface.mostBytes >> 20}.`,
    });
  if (lost) {
    await closeCell(cell.runtime);
    cell = await open();
  }
  return { findings: found, stallMs, grownBytes };
}

function isOfTime({ kind }: Finding): boolean {
  return kind === 'stalled' || kind === 'late';
}

/** A cell that does not end is the parent's business: it waits only so long. */
async function closeCell(runtime: Runtime): Promise<void> {
  await runtime.close();
}

async function open(): Promise<FuzzCell> {
  const { backend, engine } = settings;
  const places: Record<string, CreateRuntimeOptions> = {
    sandbox: {
      backend: 'sandbox',
      workspace,
      readOnly: [settings.programs],
      limits: { memoryBytes: 1 << 30, pids: 256 },
    },
    cli: { backend: 'cli', workspace },
    local: { backend: 'local', workspace },
    docker: { backend: 'docker', ...engine },
  };
  const runtime = await createRuntime({
    config: false,
    ...places[backend],
    // Tells attackers how far they may go.
    env: { [cellVariable]: `${readlinkSync('/proc/self/ns/pid')} ${randomUUID()}` },
    ...surface.options?.(settings.programs),
  } as CreateRuntimeOptions);
  let program = join(settings.programs, 'inside.mjs');
  let node = ['node'];
  if (backend === 'docker') {
    // An image need not have one; the cell brings its own.
    node = (await executorBundle()).command().slice(0, -1);
    await runtime.files.upload(program, 'inside.mjs');
    program = `${runtime.workspace}/inside.mjs`;
  }
  const insideArgv: FuzzCell['insideArgv'] = (...words) => [...node, program, ...words.map(String)];
  return {
    runtime,
    outside: backend === 'docker' ? undefined : workspace,
    insideArgv,
    inside: (...words) => insideArgv(...words).join(' '),
  };
}

function send(message: FromOwner): void {
  process.send?.(message);
}
