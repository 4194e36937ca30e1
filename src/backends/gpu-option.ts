/** What a cell gets of the GPUs of a machine, as every backend that can give one takes it. */
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

/** `true`: all of them. A number: so many. A list: those of these ids. */
export type GpuRequest = z.output<typeof gpuOption>;
