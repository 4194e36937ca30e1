import * as z from 'zod';
import { defineAction } from '../action.js';
import { environmentNameSchema, environmentSchema } from './common.js';

export const getEnv = defineAction('get_env', {
  summary: 'Gives the variables that new shells and processes start with.',
  offered: 'by-name',
  readOnly: true,
  input: { names: z.array(environmentNameSchema).optional() },
  kinds: { names: 'plain' },
  output: { variables: environmentSchema },
});

export const setEnv = defineAction('set_env', {
  summary: 'Sets variables for all shells and processes, running shells included.',
  offered: 'by-name',
  input: { variables: environmentSchema },
  kinds: { variables: 'environment' },
  output: { names: z.array(z.string()) },
});

export const unsetEnv = defineAction('unset_env', {
  summary: 'Removes variables from all shells and processes, running shells included.',
  offered: 'by-name',
  input: { names: z.array(environmentNameSchema).min(1) },
  kinds: { names: 'plain' },
  output: { names: z.array(z.string()) },
});

export const stats = defineAction('stats', {
  summary: 'Tells what the cell uses: processor time, memory, disk, processes, uptime and idle time.',
  offered: 'by-name',
  readOnly: true,
  input: {},
  kinds: {},
  get output() {
    return {
      /** Processor time used by the processes that are alive. */
      cpuMs: z.number(),
      memoryBytes: z.int(),
      diskUsedBytes: z.int(),
      diskFreeBytes: z.int(),
      processes: z.int(),
      uptimeMs: z.number(),
      /** Since the last action ended; 0 while one runs. */
      idleMs: z.number(),
    };
  },
});
