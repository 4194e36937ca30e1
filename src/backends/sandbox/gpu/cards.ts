/** The NVIDIA cards of a machine and the device nodes that lead to them. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GpuRoots, machineRoots } from './gpu-roots.js';

export interface Card {
  /** As nvidia-smi counts: in the order of the bus, from 0. */
  readonly index: number;
  /** The number in the name of its node. */
  readonly minor: number;
  readonly node: string;
  /** Such as `GPU-6e7bb313-…`. */
  readonly uuid?: string | undefined;
  readonly model?: string | undefined;
  /** Its directory below `driver/nvidia/gpus`. */
  readonly bus?: string | undefined;
}

export interface Cards {
  /** Of the kernel driver; undefined when none is loaded, or it reports none. */
  readonly version: string | undefined;
  readonly cards: readonly Card[];
}

/** Cards whose device node exists. Ignores what only looks like a node, such as a link. */
export function findCards(roots: GpuRoots = machineRoots): Cards {
  const version = /\b\d+\.\d+(?:\.\d+)*\b/.exec(read(join(roots.proc, 'driver/nvidia/version')))?.[0];
  const major = majors(roots);
  const told = tellings(roots);
  const cards = names(roots.dev)
    .flatMap((name) => {
      const minor = Number(/^nvidia(\d{1,3})$/.exec(name)?.[1] ?? Number.NaN);
      const node = join(roots.dev, name);
      if (Number.isNaN(minor) || !isNode(node, major('nvidia'), minor)) return [];
      return [{ minor, node, ...told.find((card) => card.minor === minor) }];
    })
    .sort((a, b) => compare(order(a), order(b)) || a.minor - b.minor);
  return { version, cards: cards.map((card, index) => ({ ...card, index })) };
}

/** The nodes besides those of cards that every program needs to use one, each with whether it exists. */
export function commonNodes(roots: GpuRoots): { readonly node: string; readonly isThere: boolean }[] {
  const major = majors(roots);
  return [
    { name: 'nvidiactl', major: major('nvidia'), minor: 255 },
    { name: 'nvidia-uvm', major: major('nvidia-uvm'), minor: 0 },
  ].map(({ name, major, minor }) => {
    const node = join(roots.dev, name);
    return { node, isThere: isNode(node, major, minor) };
  });
}

/**
 * The nodes of a card's parts, where somebody has divided it (MIG). Never includes nodes that divide it or watch all
 * parts.
 */
export function partNodes({ minor }: Card, roots: GpuRoots): string[] {
  const major = majors(roots)('nvidia-caps');
  const directory = join(roots.proc, `driver/nvidia/capabilities/gpu${minor}/mig`);
  return names(directory, true).flatMap((name) => {
    if (!/(^|\/)access$/.test(name)) return [];
    const cap = Number(/^DeviceFileMinor:\s*(\d+)$/m.exec(read(join(directory, name)))?.[1] ?? Number.NaN);
    const node = join(roots.dev, `nvidia-caps/nvidia-cap${cap}`);
    return isNode(node, major, cap) ? [node] : [];
  });
}

/** Cards that do not report their place come last. */
function order({ bus }: { bus?: string | undefined }): string {
  return bus ?? '~';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What the driver tells of each card. */
function tellings({ proc }: GpuRoots): Pick<Card, 'minor' | 'uuid' | 'model' | 'bus'>[] {
  const directory = join(proc, 'driver/nvidia/gpus');
  return names(directory).flatMap((bus) => {
    const text = read(join(directory, bus, 'information'));
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(\\S.*?)\\s*$`, 'm').exec(text)?.[1];
    const minor = field('Device Minor');
    if (minor === undefined) return [];
    // The driver writes question marks until somebody has used the card once.
    const uuid = field('GPU UUID');
    return [
      {
        minor: Number(minor),
        model: field('Model'),
        uuid: uuid !== undefined && /^GPU-[\da-f-]+$/i.test(uuid) ? uuid : undefined,
        bus,
      },
    ];
  });
}

/** The numbers by which the kernel knows the driver's devices. */
function majors({ proc }: GpuRoots): (name: string) => number | undefined {
  const [characters = ''] = read(join(proc, 'devices')).split(/^Block devices:/m);
  const entries = [...characters.matchAll(/^\s*(\d+) (\S+)$/gm)];
  // Older drivers have the name that ends in `-frontend`.
  return (name) => {
    const found = entries.find(([, , known]) => known === name || known === `${name}-frontend`);
    return found === undefined ? undefined : Number(found[1]);
  };
}

/** Checks the file of that very name: a link could lead to any device of the machine. */
function isNode(path: string, major: number | undefined, minor: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (major === undefined || !stats?.isCharacterDevice()) return false;
  const { rdev } = stats;
  return ((rdev >>> 8) & 0xfff) === major && ((rdev & 0xff) | ((rdev >>> 12) & 0xfff00)) === minor;
}

function names(directory: string, recursive = false): string[] {
  try {
    return readdirSync(directory, { recursive, encoding: 'utf8' }).sort();
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
