/** The options of the docker backend. */
import { totalmem } from 'node:os';
import { z } from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { startRulesSchema } from '../../protocol/network/network-schema.js';
import { gpuOption } from '../gpu-option.js';
import type { StartRules } from '../open-gateway.js';
import { isRange } from './app-ports.js';

const limitsSchema = z.strictObject({
  /** Default: three quarters of the machine's memory. */
  memoryBytes: z.int().min(67_108_864).optional(),
  /** Processors' worth of time; can be a fraction. Default: all. */
  cpus: z.number().positive().optional(),
  /** Processes and threads together. Default: 4096. */
  pids: z.int().min(8).optional(),
  /** Size of each of /tmp, /var/tmp, /dev/shm and the home directory, which are in memory. Default and most: an eighth of it. */
  diskBytes: z.int().min(65_536).optional(),
  /** Descriptors of one process. Default: the engine's own. */
  openFiles: z.int().min(16).optional(),
});

const port = z.int().min(1).max(65_535);

export const dockerOptions = {
  /** Any image with bash and util-linux in it. */
  image: z.string().min(1).default('debian:bookworm'),
  /** Such as `linux/arm64`, where the engine can run it. */
  platform: z.string().min(1).optional(),
  /** The cell sees it at /workspace. Default: a temporary directory that the backend removes at the end. */
  workspace: z.string().min(1).optional(),
  /**
   * `from:to`, `from:to:ro`, or `from:to:overlay`, which keeps changes out of `from`. A `from` without a slash is the
   * name of a volume.
   */
  volumes: z.array(z.string().min(1)).default([]),
  /** Rules say what the cell reaches. Else `none`, `open` or `bridge`, or the name of a network. The network of the machine itself is `host`, without isolation. */
  network: z.union([z.string().min(1), startRulesSchema]).default('none'),
  /** Further networks to connect to. */
  networks: z.array(z.string().min(1)).default([]),
  /** Ports of the cell to publish on this machine's loopback; `host: 0` takes any that is free. */
  ports: z
    .array(z.strictObject({ container: port, host: z.int().min(0).max(65_535).default(0) }))
    .default([]),
  /**
   * Ranges such as `50000-54999`. From each the cell gets a port that no other cell has, published on loopback under the
   * same number; the variables `APP_PORT_1`, `APP_PORT_2`, … name them.
   */
  appPorts: z
    .array(z.string().refine(isRange, 'must be a range of ports above 1023 such as 50000-54999'))
    .max(16)
    .default([]),
  limits: limitsSchema.default({}),
  /** GPUs of the engine's machine: `true` for all, how many, or the ids of some. */
  gpu: gpuOption,
  /** The user that runs commands, `uid` or `uid:gid`. Default: the owner of the workspace. */
  user: z
    .string()
    .regex(/^\d{1,9}(:\d{1,9})?$/, 'must be numbers such as 1000 or 1000:1000')
    .optional(),
  /** Such as `runsc`, for a separate kernel. Default: the engine's own. */
  ociRuntime: z.string().min(1).optional(),
  /** Makes the image's system writable, too; changes disappear with the cell. */
  writableSystem: z.boolean().default(false),
  env: environmentSchema.default({}),
  labels: z.record(z.string().min(1), z.string()).default({}),
  /** Of the container. Default: `workcell-` and the id of the cell. */
  name: z
    .string()
    .regex(/^[a-zA-Z0-9][\w.-]*$/, 'must be letters, digits or _ . -')
    .optional(),
  /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
  keepAlive: z.boolean().default(false),
  /** Keeps cells of this shape ready, so that the next ones start at once. Not with name, keepAlive or onLog. */
  pool: z.strictObject({ size: z.int().min(1).max(100) }).optional(),
  /** Where the engine is, in the form of DOCKER_HOST. Default: that variable, or this machine's own. */
  engine: z.string().min(1).optional(),
  /** Receives the container's log, line by line. */
  onLog: z
    .custom<(line: string) => void>((value) => typeof value === 'function', 'must be a function')
    .optional(),
};

export type GivenDockerOptions = z.output<z.ZodObject<typeof dockerOptions>>;

/** A container with rules has no network of its own. */
export type DockerOptions = Omit<GivenDockerOptions, 'network'> & {
  readonly network: string;
  readonly rules?: StartRules | undefined;
};

/**
 * Limits for what the kernel counts per user, in thousands: enough for programs, and little enough to leave the rest
 * to others with the same user.
 */
export const userLimits = { timers: 4096, queueBytes: 204_800 } as const;

/**
 * Default limits: a runaway command must not take the machine with it. Scratch space is memory too, and the executor
 * needs some, so all four directories together get at most half.
 */
export function withDefaults(limits: DockerOptions['limits']): DockerOptions['limits'] & {
  memoryBytes: number;
  pids: number;
  diskBytes: number;
} {
  const { memoryBytes = Math.floor(totalmem() * 0.75), pids = 4096, diskBytes, ...rest } = limits;
  const mostBytes = Math.floor(memoryBytes / 8);
  return { ...rest, memoryBytes, pids, diskBytes: Math.min(diskBytes ?? mostBytes, mostBytes) };
}
