/** Which backend to use when you name none: the safest that can start here. */
import type { Backend } from '../backends/backend.js';
import { defaultCandidates } from '../backends/index.js';
import { WorkcellError } from '../protocol/errors.js';
import { type Demand, shortfall } from '../protocol/isolation.js';

/** The first candidate that can start a cell with the demanded isolation; none throws `backend-unavailable`. */
export async function chooseBackend(options: {
  known: readonly string[];
  load: (name: string) => Promise<Backend>;
  demand?: Demand | undefined;
  /** Called for each rejected backend, with the reason. */
  onPassed?: ((name: string, reason: string) => void) | undefined;
}): Promise<string> {
  const { known, load, demand = {}, onPassed } = options;
  const reasons: string[] = [];
  for (const name of defaultCandidates.filter((candidate) => known.includes(candidate))) {
    const probe = await (await load(name)).probe();
    const { tier, facts = [] } = probe;
    // Check facts that the probe cannot tell when the cell has started.
    const told = demand.facts?.filter((code) => facts.some((fact) => fact.code === code));
    const lack = shortfall({ tier, facts: [...facts] }, { tier: demand.tier, facts: told });
    if (probe.available && lack === undefined) return name;
    const reason = probe.available ? `It ${lack}.` : probe.summary;
    onPassed?.(name, reason);
    reasons.push([`  ${name}: ${reason}`, ...probe.advice.map((line) => `    ${line}`)].join('\n'));
  }
  throw new WorkcellError('backend-unavailable', explain(reasons, known, demand), {
    details: { candidates: defaultCandidates, reasons },
  });
}

/**
 * The first candidate, where nothing that one sees at a glance speaks against it. A look at what it can do takes as long as
 * a start, so start it, and choose only when that fails.
 */
export async function likelyBackend(
  known: readonly string[],
  load: (name: string) => Promise<Backend>,
): Promise<string | undefined> {
  const name = defaultCandidates.find((candidate) => known.includes(candidate));
  return name !== undefined && (await load(name)).mayStart?.() === true ? name : undefined;
}

function explain(reasons: readonly string[], known: readonly string[], { tier = 'none' }: Demand): string {
  const why =
    reasons.length > 0
      ? `No backend can start here with ${tier === 'none' ? 'isolation' : `isolation ${tier}`}. What each lacks, and what helps:\n${reasons.join('\n')}\n`
      : `No backend is named, and this installation has none that isolates (${defaultCandidates.join(', ')}). `;
  const unisolated =
    known.includes('cli') && tier === 'none'
      ? 'To run on this machine without isolation, ask for it by name: backend "cli". '
      : '';
  return `${why}${unisolated}See workcell doctor.`;
}
