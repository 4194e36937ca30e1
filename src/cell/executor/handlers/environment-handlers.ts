import { statfsSync } from 'node:fs';
import type { Handler } from '../handler-context.js';

export const getEnv: Handler<'get_env'> = ({ names }, { environment }) => {
  const all = environment.all();
  const variables =
    names === undefined
      ? all
      : Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  return { observation: 'get_env', variables };
};

export const setEnv: Handler<'set_env'> = ({ variables }, { environment }) => {
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return { observation: 'set_env', names: Object.keys(variables) };
};

export const unsetEnv: Handler<'unset_env'> = ({ names }, { environment }) => {
  for (const name of names) environment.unset(name);
  return { observation: 'unset_env', names };
};

export const stats: Handler<'stats'> = (_action, { launcher, activity }) => {
  const processes = launcher.processes();
  const disk = statfsSync(launcher.files.root);
  const now = performance.now();
  return {
    observation: 'stats',
    cpuMs: sum(processes.map((entry) => entry.cpuMs)),
    memoryBytes: sum(processes.map((entry) => entry.memoryBytes)),
    diskUsedBytes: (disk.blocks - disk.bfree) * disk.bsize,
    diskFreeBytes: disk.bavail * disk.bsize,
    processes: processes.length,
    uptimeMs: now - activity.startedAt,
    // The request for these figures is itself one running action.
    idleMs: activity.running > 1 ? 0 : now - activity.lastEndedAt,
  };
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
