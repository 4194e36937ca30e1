/** What can become many in a runtime, how to make it more, and what one use then costs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../../src/index.js';
import { storeAccess } from '../../src/runtime/events/open.js';
import { EventStream } from '../../src/runtime/events/stream.js';
import { descendants, proportionalBytes } from '../memory.js';

export interface Subject {
  readonly name: string;
  /** What one sample is. */
  readonly cost: string;
  readonly counts: readonly number[];
  readonly rounds: number;
  start(): Promise<Growing>;
}

interface Growing extends AsyncDisposable {
  grow(count: number): Promise<void>;
  use(): Promise<unknown>;
  /** What follows each use, without its time. */
  settle?(): Promise<unknown>;
  /** Bytes that all of them take together. */
  weigh?(): number;
}

const atOnce = 8;
const ten = [1, 10, 100, 1000];

export const subjects: readonly Subject[] = [
  {
    name: 'cells',
    cost: 'one more sandbox to its first answer, with so many open',
    counts: ten,
    rounds: 15,
    async start() {
      const open: Runtime[] = [];
      let last: Runtime | undefined;
      const create = async () => {
        const runtime = await createRuntime({ backend: 'sandbox', config: false });
        await runtime.run('true');
        return runtime;
      };
      const empty = weight();
      return {
        grow: (count) =>
          inParallel(count - open.length, async () => {
            open.push(await create());
          }),
        async use() {
          last = await create();
        },
        settle: async () => last?.close(),
        weigh: () => weight() - empty,
        async [Symbol.asyncDispose]() {
          await inParallel(open.length, async (index) => open[index]?.close());
        },
      };
    },
  },
  {
    name: 'sessions',
    cost: 'a command in one shell session, with so many in the cell',
    counts: ten,
    rounds: 200,
    async start() {
      const runtime = await createRuntime({ backend: 'sandbox', config: false });
      let sessions = 0;
      await runtime.run(':');
      const empty = weight();
      return {
        async grow(count) {
          const from = sessions;
          sessions = count;
          await inParallel(count - from, async (index) => {
            await runtime.run(':', { session: `s${from + index}` });
          });
        },
        use: () => runtime.run(':', { session: 's0' }),
        weigh: () => weight() - empty,
        [Symbol.asyncDispose]: () => runtime.close(),
      };
    },
  },
  {
    name: 'files',
    cost: '4 KiB written to one file and read back, in a folder with so many',
    counts: [100, 1000, 10_000, 100_000],
    rounds: 200,
    async start() {
      const workspace = mkdtempSync(join(tmpdir(), 'bench-growth-'));
      const runtime = await createRuntime({ backend: 'sandbox', config: false, workspace });
      const content = 'x'.repeat(4096);
      let files = 0;
      return {
        async grow(count) {
          for (; files < count; files++) writeFileSync(join(workspace, `f${files}`), 'content');
        },
        async use() {
          await runtime.write('f0', content);
          await runtime.read('f0');
        },
        async [Symbol.asyncDispose]() {
          await runtime.close();
          rmSync(workspace, { recursive: true, force: true });
        },
      };
    },
  },
  {
    name: 'events',
    cost: 'one more event in a store on disk that has so many, until it is kept',
    counts: [1000, 10_000, 100_000, 1_000_000],
    rounds: 1000,
    async start() {
      const directory = mkdtempSync(join(tmpdir(), 'bench-growth-'));
      const access = storeAccess({ store: `sqlite:${join(directory, 'events.db')}`, maxBytes: 1024 ** 4 });
      const stream = new EventStream('growing', access === undefined ? {} : { store: access });
      await stream.open();
      let events = 0;
      const event = {
        kind: 'observation' as const,
        cause: 1,
        observation: { observation: 'run', output: 'ok\n'.repeat(40) },
      };
      return {
        async grow(count) {
          while (events < count) {
            for (let batch = 0; batch < 1000 && events < count; batch++, events++)
              stream.append(event, 'environment');
            await stream.kept();
          }
        },
        async use() {
          stream.append(event, 'environment');
          events++;
          await stream.kept();
        },
        async [Symbol.asyncDispose]() {
          await stream.close();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  },
];

function weight(): number {
  return [process.pid, ...descendants(process.pid)].reduce((sum, pid) => sum + proportionalBytes(pid), 0);
}

async function inParallel(times: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
