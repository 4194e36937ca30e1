/** Timing and what follows from it: samples, percentiles, and a floor measured between them. */

export interface Summary {
  readonly samples: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

let isTrial = false;

/** From here on each subject runs once: for a test that the lines still work. */
export function tryOnly(): void {
  isTrial = true;
}

/** Runs the subjects in turn, round after round, so that whatever disturbs the machine disturbs all of them. */
export async function interleave<Name extends string>(
  subjects: Readonly<Record<Name, () => unknown>>,
  full: { rounds: number; warmup: number },
): Promise<Record<Name, Summary>> {
  const { rounds, warmup } = isTrial ? { rounds: 1, warmup: 0 } : full;
  const names = Object.keys(subjects) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmup; round < rounds; round++) {
    for (const name of names) {
      const start = process.hrtime.bigint();
      await subjects[name]();
      const elapsedMs = Number(process.hrtime.bigint() - start) / 1e6;
      if (round >= 0) samples[name].push(elapsedMs);
    }
  }
  return Object.fromEntries(names.map((name) => [name, summarise(samples[name])])) as Record<Name, Summary>;
}

export function summarise(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { samples: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
