/** The options of the sandbox backend. */
import { totalmem } from 'node:os';
import { z } from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { startRulesSchema } from '../../protocol/network/network-schema.js';
import { gpuOption } from '../gpu-option.js';
import { cacheNames } from './cache-places.js';

const absolutePath = z.string().regex(/^\/[^\0]*$/, 'must be an absolute path');

const limitsSchema = z.strictObject({
  /** Default: three quarters of the machine's memory. */
  memoryBytes: z.int().min(16_777_216).optional(),
  /** Processors' worth of time; can be a fraction. Default: all. */
  cpus: z.number().positive().optional(),
  /** Processes and threads together. Default: 4096. */
  pids: z.int().min(8).optional(),
  /** Size of each of /tmp, /dev/shm and the home directory. Default: half of the memory. */
  diskBytes: z.int().min(65_536).optional(),
  /** Descriptors of one process. Default: the caller's own limit. */
  openFiles: z.int().min(16).optional(),
});

export const sandboxOptions = {
  /** Default: a temporary directory that the backend removes at the end. */
  workspace: z.string().min(1).optional(),
  /** A directory with a system in it, which the cell sees in place of this machine's own. */
  rootfs: absolutePath.optional(),
  /**
   * Rules say what the cell reaches. `open`: every public host. `host`: the network of this machine, its
   * loopback included, without isolation.
   */
  network: z.union([z.enum(['none', 'open', 'host']), startRulesSchema]).default('none'),
  limits: limitsSchema.default({}),
  /** NVIDIA GPUs of this machine: `true` for all, how many, or the ids of some as nvidia-smi shows them. */
  gpu: gpuOption,
  /** Paths of this machine that the cell sees at the same place. */
  readOnly: z.array(absolutePath).default([]),
  readWrite: z.array(absolutePath).default([]),
  /**
   * A Python of this machine, such as one of a virtual environment: the cell sees it read-only and finds it first.
   */
  python: absolutePath.optional(),
  /**
   * `caller`: the cell also sees, read-only, programs that your search path finds outside of the system's
   * directories, such as a Node of nvm. `system`: only those of the system.
   */
  programs: z.enum(['caller', 'system']).default('caller'),
  /**
   * What these package managers fetched stays for the next cell with the same workspace. Not in copies of a workspace and
   * in overlays over one.
   */
  caches: z.array(z.enum(cacheNames)).default([]),
  env: environmentSchema.default({}),
  /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
  keepAlive: z.boolean().default(false),
  /**
   * The executor lives in a keeper, a process that this user's cells share, so that nothing a cell does reaches the
   * memory or the time of this process. With a name, only cells that give the same name share the keeper.
   */
  keeper: z
    .union([z.boolean(), z.string().regex(/^[\w.-]{1,64}$/, 'must be letters, digits or _ . -')])
    .default(false),
  /** Keeps cells of this shape ready, so that the next ones start at once. Not with keepAlive or keeper. */
  pool: z.strictObject({ size: z.int().min(1).max(1000) }).optional(),
};

export type SandboxOptions = z.output<z.ZodObject<typeof sandboxOptions>>;

/** It does not change while a machine runs, and takes reading a file. */
const machineBytes = totalmem();

/** Default limits: a runaway command must not take the machine with it. */
export function withDefaults(limits: SandboxOptions['limits']): SandboxOptions['limits'] {
  return { memoryBytes: Math.floor(machineBytes * 0.75), pids: 4096, ...limits };
}
