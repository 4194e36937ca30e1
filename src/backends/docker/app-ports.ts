/**
 * Ports for what an agent serves: in each range one that no other cell has, published under the same number, so that
 * the address that a program prints is the one to open. `APP_PORT_1`, `APP_PORT_2`, … name them.
 */
import { randomInt } from 'node:crypto';
import { type Cell, WorkcellError } from '../../protocol/index.js';
import { type Engine, openEngine } from '../engines/docker-engine.js';
import type { DockerOptions } from './docker-options.js';

/** How often another start can be quicker. */
const mostTries = 5;

/** Whether it is a range such as `50000-54999`. */
export function isRange(text: string): boolean {
  const [from = 0, to = 0] = readRange(text);
  return /^\d{1,5}-\d{1,5}$/.test(text) && from >= 1024 && from <= to && to <= 65_535;
}

/** Starts with ports of its own. The engine gives a port to one container only, so it decides between two that start at once. */
export async function withAppPorts(
  options: DockerOptions,
  start: (options: DockerOptions) => Promise<Cell>,
): Promise<Cell> {
  if (options.appPorts.length === 0) return start(options);
  const engine = await openEngine(options.engine);
  for (let tries = 1; ; tries++) {
    const ports = await choosePorts(engine, options);
    const variables = ports.map((port, index) => [`APP_PORT_${index + 1}`, String(port)]);
    try {
      return await start({
        ...options,
        ports: [...options.ports, ...ports.map((port) => ({ container: port, host: port }))],
        env: { ...options.env, ...Object.fromEntries(variables) },
      });
    } catch (error) {
      if (tries === mostTries || !WorkcellError.isInstance(error) || error.code !== 'port-taken') throw error;
    }
  }
}

async function choosePorts(engine: Engine, { appPorts, ports }: DockerOptions): Promise<number[]> {
  const containers = await engine.docker.listContainers();
  const taken = new Set([
    ...ports.flatMap(({ container, host }) => [container, host]),
    ...containers.flatMap(({ Ports }) => Ports.map(({ PublicPort = 0 }) => PublicPort)),
  ]);
  return appPorts.map((range) => {
    const [from = 0, to = 0] = readRange(range);
    const free = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
      (port) => !taken.has(port),
    );
    const chosen = free[randomInt(Math.max(free.length, 1))];
    if (chosen === undefined)
      throw new WorkcellError(
        'port-taken',
        `Other containers have all ports of the range ${range}. End some of them, or give a larger range as appPorts.`,
        { details: { range } },
      );
    taken.add(chosen);
    return chosen;
  });
}

const readRange = (range: string): number[] => range.split('-').map(Number);
