/** The option for GPUs, the same on every backend that has them. */
import { z } from 'zod';

export const gpuOption = z
  .union([
    z.boolean(),
    z.int().min(1).max(1024),
    z
      .array(z.union([z.string().min(1), z.int().min(0)]))
      .min(1)
      .max(1024),
  ])
  .default(false);

/** `true`: all of them. A number: this many. A list: those with these ids. */
export type GpuRequest = z.output<typeof gpuOption>;

/**
 * Where NVIDIA's runtime is the default of an engine or a node, a container has the GPUs that its image names in this variable, and
 * images with CUDA name all of them.
 */
export const noGpus = { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' } as const;
