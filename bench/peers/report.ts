/** What was measured of the peers, as text of a page: tables, who is ahead of us, and every failure. */
import { type Summary, summarise } from '../measure.js';
import { mebibyte } from '../memory.js';
import type { Measurements } from './measure-peers.js';
import { absent, floorName, type PeerEntry } from './peers.js';
import { works } from './works.js';

export interface Report extends Measurements {
  readonly at: string;
  readonly machine: {
    readonly processors: string;
    readonly memoryGib: number;
    readonly kernel: string;
    readonly node: string;
    /** Of the machine when it began; what else ran then slows everybody, the floor too. */
    readonly load: string;
  };
  readonly rounds: number;
  readonly peers: readonly Pick<PeerEntry, 'name' | 'version' | 'isolates' | 'used'>[];
}

const ours = 'Workcell `sandbox`';
/** Of fewer samples the high percentiles are the slowest one, which has a column of its own. */
const leastForTail = 20;
const parts = works.flatMap((work) => work.parts);

export function peersSection(report: Report): string {
  return [
    machineOf(report),
    whoTable(report),
    ...parts.map((part) => partTable(report, part)),
    weightTable(report),
  ]
    .concat([aheadOf(report), failuresOf(report), absentList()])
    .join('\n\n');
}

function machineOf({ at, machine, rounds, cut }: Report): string {
  const left = cut
    ? ' Its time was over before everybody had done everything: some have fewer samples, or none.'
    : '';
  const { processors, memoryGib, kernel, node, load } = machine;
  return `Measured ${at.slice(0, 10)} on ${processors}, ${memoryGib} GiB, ${kernel}, Node ${node}, in ${rounds} ${rounds === 1 ? 'round' : 'rounds'}. The load average was ${load} when it began.${left}`;
}

function whoTable({ peers }: Report): string {
  const rows = peers.map(({ name, version, isolates, used }) => [
    `${name} ${version}`.trim(),
    isolates,
    used,
  ]);
  return table(['who', 'what it isolates here', 'how it was used'], rows);
}

function partTable(report: Report, { name, summary }: { name: string; summary: string }): string {
  const floor = summaryOf(report, floorName, name);
  const rows = report.peers.flatMap((peer) => {
    const result = report.results.find((one) => one.peer === peer.name && one.part === name);
    const of = summaryOf(report, peer.name, name);
    const failures = result?.failures ?? [];
    const failed = failures.length;
    if (failures.some(isLack)) return [[peer.name, 'has none', '', '', '', '', '', '']];
    // It had no time left for this part.
    if (of === undefined && failed === 0) return [];
    if (of === undefined) return [[peer.name, '–', '–', '–', '–', '–', '0', String(failed)]];
    const ratio = floor === undefined ? '–' : `${digits(of.p50 / floor.p50)}×`;
    const tail = of.samples < leastForTail ? ['–', '–'] : [digits(of.p95), digits(of.p99)];
    const percentiles = [digits(of.p50), ...tail, digits(of.max)];
    return [[peer.name, ...percentiles, ratio, String(of.samples), failed === 0 ? '' : String(failed)]];
  });
  if (rows.length === 0) return `### ${capital(name)}\n\n${capital(summary)}: not done in this run.`;
  const head = ['', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'of the floor', 'samples', 'failed'];
  return `### ${capital(name)}\n\n${capital(summary)}.\n\n${table(head, rows)}`;
}

function weightTable({ weights }: Report): string {
  const rows = weights.map(({ peer, bytesEach }) => [peer, digits(bytesEach / mebibyte)]);
  const words =
    'What the processes of a peer grew by for each of the 20 places above, in proportional set size, its servers and those of an engine included.';
  if (rows.length === 0) return `### Idle memory\n\n${words} Not done in this run.`;
  return `### Idle memory\n\n${words}\n\n${table(['', 'MiB each'], rows)}`;
}

/** Every part at which another one is faster or lighter than our sandbox. */
function aheadOf(report: Report): string {
  const others = report.peers.filter(({ name }) => name !== floorName && !name.startsWith('Workcell'));
  const lines = parts.flatMap(({ name }) => {
    const own = summaryOf(report, ours, name);
    return others.flatMap((peer) => {
      const of = summaryOf(report, peer.name, name);
      if (own === undefined || of === undefined || of.p50 >= own.p50) return [];
      return [
        `- ${capital(name)}: ${peer.name} takes ${digits(of.p50)} ms, and the sandbox ${digits(own.p50)} ms.`,
      ];
    });
  });
  const ownWeight = report.weights.find(({ peer }) => peer === ours)?.bytesEach;
  for (const { name } of others) {
    const weight = report.weights.find(({ peer }) => peer === name)?.bytesEach;
    if (ownWeight !== undefined && weight !== undefined && weight < ownWeight)
      lines.push(
        `- Idle memory: ${name} takes ${digits(weight / mebibyte)} MiB, and the sandbox ${digits(ownWeight / mebibyte)} MiB.`,
      );
  }
  const text = lines.length === 0 ? 'Nowhere in this run.' : lines.join('\n');
  return `### Where a peer is ahead\n\nBy the median, next to Workcell \`sandbox\`:\n\n${text}`;
}

function failuresOf({ results }: Report): string {
  const rows = results
    .filter(({ failures }) => failures.length > 0 && !failures.some(isLack))
    .map(({ peer, part, failures }) => [peer, part, String(failures.length), oneLine(failures[0] ?? '')]);
  const text = rows.length === 0 ? 'None.' : table(['who', 'at', 'times', 'the first said'], rows);
  return `### Failures\n\n${text}`;
}

function absentList(): string {
  return `### Not measured\n\n${absent.map(([who, why]) => `- ${who}: ${why}.`).join('\n')}`;
}

/** What a peer does not offer is no failure. */
function isLack(failure: string): boolean {
  return failure.includes('It has no code cells.');
}

function summaryOf({ results }: Report, peer: string, part: string): Summary | undefined {
  const samples = results.find((one) => one.peer === peer && one.part === part)?.samplesMs ?? [];
  return samples.length === 0 ? undefined : summarise(samples);
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Of a message from a peer: short, and nothing that ends a cell of the table or is a path of this machine. */
function oneLine(text: string): string {
  return text
    .replaceAll(/(?:\/[\w.@-]+){2,}/g, '…')
    .replaceAll(/[|<>`\s]+/g, ' ')
    .slice(0, 160)
    .trim();
}
