/** Uptime and resources of the server itself, for `/server_info`. */
import { readFileSync, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';

const pageBytes = 4096;

export interface ServerInfo {
  readonly uptime: number;
  readonly idle_time: number;
  readonly resources: Record<string, unknown>;
}

/** Counts from its creation, which is the start of the server. */
export class ServerClock {
  readonly #startedAt = performance.now();
  #lastActionAt = performance.now();
  #sampledAt = performance.now();
  #sample = process.cpuUsage();

  actionStarts(): void {
    this.#lastActionAt = performance.now();
  }

  /** All of the server process only; the processor share is that since the last call. */
  info(): ServerInfo {
    const now = performance.now();
    return {
      uptime: (now - this.#startedAt) / 1000,
      idle_time: (now - this.#lastActionAt) / 1000,
      resources: { cpu_percent: this.#processorShare(now), memory: memory(), disk: disk(), io: transfers() },
    };
  }

  #processorShare(now: number): number {
    const used = process.cpuUsage(this.#sample);
    const elapsedMs = Math.max(now - this.#sampledAt, 1);
    this.#sample = process.cpuUsage();
    this.#sampledAt = now;
    return rounded((used.user + used.system) / 1000 / elapsedMs);
  }
}

function memory() {
  const rss = process.memoryUsage.rss();
  const pages = Number(readOptional('/proc/self/statm').split(' ')[0]);
  return { rss, vms: pages * pageBytes || rss, percent: rounded(rss / totalmem()) };
}

function disk() {
  const { blocks, bfree, bavail, bsize } = statfsSync('/');
  const [total, used, free] = [blocks * bsize, (blocks - bfree) * bsize, bavail * bsize];
  return { total, used, free, percent: used + free === 0 ? 0 : rounded(used / (used + free)) };
}

function transfers() {
  const text = readOptional('/proc/self/io');
  const value = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { read_bytes: value('read_bytes'), write_bytes: value('write_bytes') };
}

/** A share as a percentage with one decimal. */
function rounded(share: number): number {
  return Math.round(share * 1000) / 10;
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
