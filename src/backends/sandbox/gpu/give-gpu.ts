/** What a cell sees and gets of the requested GPUs: nodes, libraries, tools, variables. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Bind } from '../../../cell/launchers/bubblewrap/bubblewrap-arguments.js';
import { cellEnvironment, gpuInside } from '../../../cell/launchers/bubblewrap/layout.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { GpuRequest } from '../../gpu-option.js';
import { type Card, commonNodes, findCards, partNodes } from './cards.js';
import { type DriverFile, type DriverFiles, findDriverFiles } from './driver-files.js';
import { type GpuRoots, machineRoots } from './gpu-roots.js';

export interface GivenGpu {
  /** Ids of the cards; empty without any. */
  readonly gpus: readonly string[];
  readonly devices: readonly Bind[];
  /** Files of the driver. */
  readonly files: readonly Bind[];
  /** The visible part of `/proc/driver`; undefined where it describes no card. */
  readonly driverInfo?: readonly Bind[] | undefined;
  /** The variables of a cell, with those that the driver needs. */
  environment(variables: Readonly<Record<string, string>>): Record<string, string>;
}

/** Throws `invalid-config` when this machine cannot fulfil the request. */
export function giveGpu(
  request: GpuRequest,
  { rootfs, roots = machineRoots }: { rootfs?: string | undefined; roots?: GpuRoots | undefined } = {},
): GivenGpu {
  const isTold = existsSync(join(roots.proc, 'driver/nvidia'));
  if (request === false) {
    return {
      gpus: [],
      devices: [],
      files: [],
      driverInfo: isTold ? [] : undefined,
      environment: (variables) => ({ ...variables }),
    };
  }
  const chosen = choose(request, roots);
  const nodes = [...commonNodes(roots).map(({ node }) => node), ...chosen.map(({ node }) => node)];
  for (const node of nodes) checkOpen(node);
  const parts = chosen.flatMap((card) => partNodes(card, roots));
  const driver = findDriverFiles(roots);
  if (driver === undefined) {
    throw missing(
      'the kernel has the driver, and there is no libcuda.so.1 for its programs',
      'Install the libraries of the same version of the driver (Debian: libcuda1, Ubuntu: libnvidia-compute-*), and run ldconfig',
    );
  }
  const placed = place(driver, rootfs === undefined ? roots.shown : []);
  const some = request === true ? undefined : chosen;
  return {
    gpus: chosen.map(idOf),
    devices: [...nodes, ...parts].map((source) => bind(source, roots.dev, '/dev')),
    files: placed.files,
    driverInfo: isTold ? infoOf(chosen, parts.length > 0, roots) : undefined,
    environment: (variables) => ({
      NVIDIA_VISIBLE_DEVICES: some?.map(idOf).join() ?? 'all',
      // The driver numbers the cards that it finds in the cell, from 0.
      ...(some !== undefined && { CUDA_VISIBLE_DEVICES: some.map((_, index) => index).join() }),
      ...variables,
      ...extended('PATH', variables, placed.programDirectories),
      ...extended('LD_LIBRARY_PATH', variables, placed.libraryDirectories),
    }),
  };
}

function choose(request: Exclude<GpuRequest, false>, roots: GpuRoots): readonly Card[] {
  const { cards } = checked(roots);
  if (request === true) return cards;
  if (typeof request === 'number') {
    if (request <= cards.length) return cards.slice(0, request);
    throw refused(`${request} are asked for, and there ${count(cards.length)}: ${list(cards)}`);
  }
  const found = request.map((id) => {
    const card = cards.find(({ index, uuid }) => String(id) === String(index) || id === uuid);
    if (card === undefined)
      throw refused(`there is none with the id "${id}". Here ${count(cards.length)}: ${list(cards)}`);
    return card;
  });
  return [...new Set(found)];
}

/** The cards of a machine that has at least one, and what all of them need. */
function checked(roots: GpuRoots): ReturnType<typeof findCards> {
  const found = findCards(roots);
  const { cards, version } = found;
  const lacking = commonNodes(roots).find(({ isThere }) => !isThere);
  if (cards.length > 0 && lacking === undefined) return found;
  if (cards.length === 0 && version === undefined) {
    throw missing(
      `this machine has no NVIDIA card, or its kernel driver is not loaded (no ${join(roots.dev, 'nvidia0')}, no ${join(roots.proc, 'driver/nvidia/version')})`,
      'Install the driver until nvidia-smi lists the card on this machine',
    );
  }
  throw missing(
    `the device node ${lacking?.node ?? join(roots.dev, 'nvidia0')} of the driver is missing`,
    'Make the nodes with: sudo nvidia-modprobe -u -c 0. In a container, start that one with its GPUs',
  );
}

function checkOpen(node: string): void {
  try {
    accessSync(node, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw missing(
      `you may not open ${node}`,
      'Add your user to the group of that file (ls -l shows it), and log in again',
      cause,
    );
  }
}

/**
 * Where programs find libraries and tools: by themselves, in directories that the cell sees anyway, or in a separate
 * one.
 */
function place({ main, isCached, tools, libraries }: DriverFiles, shown: readonly string[]) {
  const isSeen = ({ path }: DriverFile) => shown.some((directory) => path.startsWith(`${directory}/`));
  const hidden = { lib: isSeen(main) ? [] : libraries(), bin: tools.filter((tool) => !isSeen(tool)) };
  const onPath = (cellEnvironment.PATH ?? '').split(':');
  const offPath = tools.filter((tool) => isSeen(tool) && !onPath.includes(tool.directory));
  const inPlace = (name: keyof typeof hidden) =>
    hidden[name].map((file) => ({ source: file.path, inside: join(gpuInside, name, file.name) }));
  const own = (name: keyof typeof hidden) => (hidden[name].length > 0 ? [join(gpuInside, name)] : []);
  return {
    files: unique([...inPlace('lib'), ...inPlace('bin')]),
    libraryDirectories: [...(isSeen(main) && !isCached ? [dirname(main.path)] : []), ...own('lib')],
    programDirectories: [...new Set(offPath.map(({ path }) => dirname(path))), ...own('bin')],
  };
}

/** When two directories have the same name, the first one wins. */
function unique(binds: readonly Bind[]): Bind[] {
  return [...new Map(binds.toReversed().map((entry) => [entry.inside, entry])).values()];
}

/** The driver's information about itself and the chosen cards. Leaves out the files by which root controls it. */
function infoOf(cards: readonly Card[], hasParts: boolean, { proc }: GpuRoots): Bind[] {
  const names = [
    'nvidia/version',
    'nvidia/params',
    ...cards.flatMap(({ bus }) => (bus === undefined ? [] : [`nvidia/gpus/${bus}/information`])),
    ...(hasParts ? ['nvidia-caps', ...cards.map(({ minor }) => `nvidia/capabilities/gpu${minor}`)] : []),
  ];
  return names
    .map((name) => bind(join(proc, 'driver', name), proc, '/proc'))
    .filter(({ source }) => existsSync(source));
}

function bind(source: string, root: string, inside: string): Bind {
  return { source, inside: join(inside, relative(root, source)) };
}

/** Appends to the existing value. */
function extended(
  name: string,
  variables: Readonly<Record<string, string>>,
  directories: readonly string[],
): Record<string, string> {
  const all = [...(variables[name] ? [variables[name]] : []), ...directories];
  return directories.length === 0 ? {} : { [name]: all.join(':') };
}

function idOf({ uuid, index }: Card): string {
  return uuid ?? String(index);
}

function count(cards: number): string {
  return cards === 1 ? 'is one' : `are ${cards}`;
}

function list(cards: readonly Card[]): string {
  return cards
    .map(({ index, uuid, model }) => [index, model, uuid].filter((part) => part !== undefined).join(' '))
    .join('; ');
}

function refused(reason: string): WorkcellError {
  return new WorkcellError('invalid-config', `The sandbox cannot give the cell these GPUs: ${reason}.`, {
    details: { option: 'gpu' },
  });
}

function missing(reason: string, help: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `The sandbox cannot give the cell a GPU: ${reason}. ${help}, or leave gpu out. workcell doctor shows what is found.`,
    { details: { option: 'gpu' }, cause },
  );
}
