/** What OpenHands passes to its Docker runtime as text or as arguments of a Python library. */
import { resolve } from 'node:path';
import { isTable } from '../plain-table.js';
import type { Output } from './import-output.js';

/** `from:to[:mode]`, separated by commas. The one at /workspace is the workspace. */
export function importVolumes(value: unknown, output: Output): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const volumes: string[] = [];
  for (const mount of value.split(',').map((text) => text.trim())) {
    const [place = '', to = '', mode = 'rw', ...rest] = mount.split(':');
    if (to === '' || rest.length > 0) return `${JSON.stringify(mount)} is not from:to or from:to:mode`;
    // A word is the name of a volume.
    const from = place.includes('/') || place.startsWith('.') ? fromHere(place) : place;
    if (to === '/workspace' && mode === 'rw') output.set('workspace', fromHere(place));
    else volumes.push(mode === 'rw' ? `${from}:${to}` : `${from}:${to}:${mode}`);
  }
  if (volumes.length === 0) return undefined;
  if (output.backend !== 'docker') return 'mounts besides the workspace hold for runtime = "docker" only';
  output.set('backends.docker.volumes', volumes);
  return undefined;
}

/** The user can write the result anywhere, and its relative paths would start there. */
export function fromHere(path: string): string {
  return path.startsWith('~') ? path : resolve(path);
}

const units: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Maps the arguments that are options here; reports the others. */
export function importKwargs(value: unknown, output: Output): string | undefined {
  if (!isTable(value)) return undefined;
  if (output.backend !== 'docker') return 'it holds for runtime = "docker" only';
  const unknown: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    const known = argument(name, given);
    if (known === undefined) unknown.push(name);
    else output.set(`backends.docker.${known[0]}`, known[1]);
  }
  return unknown.length === 0 ? undefined : `there is no option for ${unknown.join(', ')}`;
}

function argument(name: string, value: unknown): [string, unknown] | undefined {
  if (name === 'mem_limit') {
    const bytes = toBytes(value);
    return bytes === undefined ? undefined : ['limits.memory_bytes', bytes];
  }
  if (name === 'nano_cpus' && typeof value === 'number') return ['limits.cpus', value / 1e9];
  if (name === 'pids_limit' && typeof value === 'number') return ['limits.pids', value];
  if (name === 'runtime' && typeof value === 'string') return ['oci_runtime', value];
  return undefined;
}

function toBytes(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const [, number = '', unit = 'b'] = /^(\d+)([bkmg])b?$/i.exec(String(value)) ?? [];
  return number === '' ? undefined : Number(number) * (units[unit.toLowerCase()] ?? 1);
}
