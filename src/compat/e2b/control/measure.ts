/** What a sandbox uses, in the figures that clients ask for. */
import { availableParallelism, totalmem } from 'node:os';
import type { Executor } from '../../../protocol/index.js';

export interface SandboxMetric {
  readonly timestamp: string;
  readonly timestampUnix: number;
  readonly cpuCount: number;
  readonly cpuUsedPct: number;
  readonly memUsed: number;
  readonly memTotal: number;
  readonly memCache: number;
  readonly diskUsed: number;
  readonly diskTotal: number;
}

/** The share of a processor is that since the cell started. */
export async function measure(executor: Executor): Promise<SandboxMetric> {
  const { cpuMs, memoryBytes, diskUsedBytes, diskFreeBytes, uptimeMs } = await executor.execute<'stats'>({
    action: 'stats',
  });
  const now = Date.now();
  return {
    timestamp: new Date(now).toISOString(),
    timestampUnix: Math.floor(now / 1000),
    cpuCount: availableParallelism(),
    cpuUsedPct: uptimeMs > 0 ? Math.round((cpuMs / uptimeMs) * 10_000) / 100 : 0,
    memUsed: memoryBytes,
    memTotal: totalmem(),
    memCache: 0,
    diskUsed: diskUsedBytes,
    diskTotal: diskUsedBytes + diskFreeBytes,
  };
}
