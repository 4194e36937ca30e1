/** Which backend to use when none is named: the safest that can start here. */
import type { Backend } from '../backends/backend.js';
import { WorkcellError } from '../protocol/errors.js';
import { type IsolationTier, isAtLeast } from '../protocol/isolation.js';

/** In order of preference. Backends that do not isolate are not here: they are used only when asked for by name. */
const candidateNames = ['sandbox', 'docker'] as const;

/** The first candidate that can start a cell with the demanded isolation; none throws `backend-unavailable`. */
export async function chooseBackend(options: {
  known: readonly string[];
  load: (name: string) => Promise<Backend>;
  minIsolation?: IsolationTier | undefined;
}): Promise<string> {
  const { known, load, minIsolation = 'none' } = options;
  const reasons: string[] = [];
  for (const name of candidateNames.filter((candidate) => known.includes(candidate))) {
    const probe = await (await load(name)).probe();
    if (probe.available && isAtLeast(probe.tier, minIsolation)) return name;
    const reason = probe.available ? `enforces "${probe.tier}", below "${minIsolation}"` : probe.summary;
    reasons.push(`${name}: ${[reason, ...probe.advice].join(' ')}`);
  }
  throw new WorkcellError('backend-unavailable', explain(reasons, known), {
    details: { candidates: candidateNames, reasons },
  });
}

function explain(reasons: readonly string[], known: readonly string[]): string {
  const why =
    reasons.length > 0
      ? `No isolating backend can start here. ${reasons.join(' ')}`
      : `No backend is named, and this installation has none that isolates (${candidateNames.join(', ')}).`;
  const unisolated = known.includes('cli')
    ? ' To run on this machine without isolation, ask for it by name: backend "cli".'
    : '';
  return `${why}${unisolated} See workcell doctor.`;
}
