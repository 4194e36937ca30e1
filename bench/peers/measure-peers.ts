/** Has all peers do the same work in turn, and keeps every sample. */
import { randomUUID } from 'node:crypto';
import { type Ask, type Link, markVariable, startAdapter, type Timed } from './link.js';
import { floorName, type PeerEntry } from './peers.js';
import { bytesOf, processesOf } from './weigh.js';
import { kept, type Part, type Work, works } from './works.js';

interface Result {
  readonly peer: string;
  readonly part: string;
  readonly samplesMs: number[];
  readonly failures: string[];
}

interface Weight {
  readonly peer: string;
  readonly bytesEach: number;
}

export interface Measurements {
  readonly results: readonly Result[];
  readonly weights: readonly Weight[];
  /** Its time was over before everybody had done everything. */
  readonly cut: boolean;
}

interface Runner {
  readonly entry: PeerEntry;
  readonly mark: string;
  readonly link: Link;
  /** Whether its kept place could be opened; else there is nothing to measure. */
  failure?: string;
}

export interface MeasureOptions {
  readonly peers: readonly PeerEntry[];
  readonly rounds: number;
  /** How long one peer may take for one part in one round; it does it once at least. */
  readonly sliceMs: number;
  readonly env: Readonly<Record<string, string>>;
  /** Where the adapters run; some of them leave logs there. */
  readonly directory: string;
  readonly enginePid: number;
  /** After so long it begins nothing more. */
  readonly mostMs: number;
  readonly tell: (progress: string) => void;
}

export async function measurePeers(options: MeasureOptions): Promise<Measurements> {
  const { peers, rounds, tell } = options;
  const results = new Map<string, Result>();
  const weights: Weight[] = [];
  const end = performance.now() + options.mostMs;
  let cut = false;
  const runners: Runner[] = [];
  try {
    for (const entry of peers) {
      const mark = randomUUID();
      const { ownNetwork = false } = entry;
      const env = { ...options.env, ...entry.env, [markVariable]: mark };
      const runner: Runner = {
        entry,
        mark,
        link: startAdapter(entry.argv, env, { ownNetwork, cwd: options.directory }),
      };
      runners.push(runner);
      const opened = await runner.link.ask([{ do: 'open', place: kept }]);
      if ('error' in opened) runner.failure = opened.error;
      tell(`${entry.name}: ${'error' in opened ? opened.error : 'ready'}`);
    }
    for (let round = 0; round < rounds; round++)
      for (const work of works) {
        if (work.only !== undefined && round !== (work.only === 'first' ? 0 : rounds - 1)) continue;
        // Who goes first changes, so that nobody always finds the machine as the same neighbour left it.
        const turn = runners.map((_, index) => runners[(index + round) % runners.length] as Runner);
        for (const runner of turn) {
          if (performance.now() > end) {
            cut = true;
            break;
          }
          tell(`round ${round + 1}: ${work.parts.map(({ name }) => name).join(', ')}: ${runner.entry.name}`);
          await doWork(runner, work, options, results, weights);
        }
      }
  } finally {
    for (const { link, mark } of runners) {
      await link[Symbol.asyncDispose]();
      // What a peer leaves behind, such as the server of a terminal multiplexer.
      for (const pid of processesOf(mark, [])) kill(pid);
    }
  }
  return { results: [...results.values()], weights, cut };
}

async function doWork(
  runner: Runner,
  work: Work,
  options: MeasureOptions,
  results: Map<string, Result>,
  weights: Weight[],
): Promise<void> {
  const { entry, link, failure } = runner;
  const roots = () => [link.pid, ...(entry.engine ? [options.enginePid] : [])];
  const before = work.parts.some(({ places }) => places !== undefined)
    ? bytesOf(processesOf(runner.mark, roots()))
    : 0;
  for (const part of work.parts) {
    const result = resultOf(results, entry.name, part);
    if (failure !== undefined) {
      if (result.failures.length === 0) result.failures.push(failure);
      continue;
    }
    const end = performance.now() + options.sliceMs;
    for (let time = 0; time < part.times && (time === 0 || performance.now() < end); time++) {
      const timed = await inOrder(link, part.steps);
      if ('error' in timed) result.failures.push(timed.error);
      else result.samplesMs.push(timed.ms);
      await inOrder(link, work.between ?? []);
      // A second try would say the same.
      if ('error' in timed) break;
    }
    if (part.places !== undefined && result.failures.length === 0 && entry.name !== floorName)
      weights.push({
        peer: entry.name,
        bytesEach: (bytesOf(processesOf(runner.mark, roots())) - before) / part.places,
      });
  }
  if (failure === undefined) await inOrder(link, work.after ?? []);
}

async function inOrder(link: Link, steps: readonly (readonly Ask[])[]): Promise<Timed> {
  let ms = 0;
  for (const step of steps) {
    const timed = await link.ask(step);
    if ('error' in timed) return timed;
    ms += timed.ms;
  }
  return { ms };
}

function resultOf(results: Map<string, Result>, peer: string, { name }: Part): Result {
  const key = `${peer}\n${name}`;
  const result = results.get(key) ?? { peer, part: name, samplesMs: [], failures: [] };
  results.set(key, result);
  return result;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
