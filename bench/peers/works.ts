/** The work that everybody does, as what is asked of an adapter. */
import type { Ask } from './link.js';

export interface Part {
  readonly name: string;
  /** What it is, for the page. */
  readonly summary: string;
  /** How often in one round, unless the time of a round is over. */
  readonly times: number;
  /** Each array at once, one array after the other; the sum of their times is one sample. */
  readonly steps: readonly (readonly Ask[])[];
  /** So many idle places are open once it is done. */
  readonly places?: number;
}

export interface Work {
  /** What ends each sample, and what ends the work. Neither is timed. */
  readonly between?: readonly (readonly Ask[])[];
  readonly after?: readonly (readonly Ask[])[];
  readonly parts: readonly Part[];
  /** In that round only; the heaviest comes last, so that a peer which does not survive it has done all else. */
  readonly only?: 'first' | 'last';
}

/** The place that stays open for the whole run, and one that comes and goes. */
export const kept = 0;
const fresh = 1;

const first = (place: number): Ask => ({ do: 'run', place, command: 'echo ready', output: 'ready' });
const close = (place: number): Ask => ({ do: 'close', place });
const page = 'x'.repeat(4096);
const small = 'y'.repeat(1024);
const names = Array.from({ length: 1000 }, (_, index) => `f${index}.txt`);
const many = Array.from({ length: 20 }, (_, index) => index + 100);
const addition: Ask = { do: 'code', place: kept, source: '1 + 1', output: '2' };

export const works: readonly Work[] = [
  {
    between: [[close(fresh)]],
    parts: [
      {
        name: 'create, first command',
        summary: 'from nothing to the answer of `echo ready`',
        times: 5,
        steps: [[{ do: 'open', place: fresh }], [first(fresh)]],
      },
    ],
  },
  {
    parts: [
      {
        name: 'command',
        summary: '`echo done` where a command ran before',
        times: 60,
        steps: [[{ do: 'run', place: kept, command: 'echo done', output: 'done' }]],
      },
      {
        name: 'program',
        summary: '`/bin/echo done` there: a program, and no builtin of the shell',
        times: 30,
        steps: [[{ do: 'run', place: kept, command: '/bin/echo done', output: 'done' }]],
      },
      {
        name: 'file, written and read',
        summary: '4 KiB written, and read back',
        times: 60,
        steps: [
          [{ do: 'write', place: kept, paths: ['page.txt'], content: page }],
          [{ do: 'read', place: kept, path: 'page.txt', content: page }],
        ],
      },
    ],
  },
  {
    only: 'first',
    parts: [
      {
        name: '1,000 files',
        summary: '1,000 files of 1 KiB written, one call each',
        times: 1,
        steps: [[{ do: 'write', place: kept, paths: names, content: small }]],
      },
    ],
  },
  {
    only: 'first',
    parts: [
      {
        name: 'first code cell',
        summary: '`1 + 1` in Python, with the start of its kernel',
        times: 1,
        steps: [[addition]],
      },
    ],
  },
  {
    parts: [{ name: 'code cell', summary: '`1 + 1` in a kernel that runs', times: 30, steps: [[addition]] }],
  },
  {
    only: 'last',
    after: [many.map(close)],
    parts: [
      {
        name: 'create 20 at once',
        summary: '20 places created at once, until the last has answered `echo ready`',
        times: 1,
        steps: [many.map((place) => ({ do: 'open', place })), many.map(first)],
        places: many.length,
      },
      {
        name: '20 at once',
        summary: 'a command in each of these 20 at once, until the last has answered',
        times: 5,
        steps: [many.map(first)],
      },
    ],
  },
];
