import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { SandboxLog } from '../../../src/compat/e2b/control/sandbox-log.js';
import { FileMetadata } from '../../../src/compat/e2b/envd/file-metadata.js';
import { FollowedProcess, Processes } from '../../../src/compat/e2b/envd/processes.js';
import { type Executor, WorkcellError } from '../../../src/protocol/index.js';

const config = { cmd: 'sleep', args: ['1000'], envs: {} };
const running = { id: 'p1', pid: 7, running: true, argv: ['sleep', '1000'], cwd: '/' };

function reached(wait: Promise<unknown>): Executor {
  const execute = ({ action }: { action: string }) =>
    action === 'wait_process' ? wait : Promise.resolve({ processes: [running] });
  return { execute } as unknown as Executor;
}

test('a process that was lost from sight while its cell was out of reach is followed again', async () => {
  const processes = new Processes();
  const broken = Promise.reject(new WorkcellError('runtime-disconnected', 'The connection broke.'));
  const before = new FollowedProcess(reached(broken), 'p1', 7, config, undefined);
  processes.add(before);
  const told = new Promise((resolve) => {
    before.listen({ onData: async () => {}, onEnd: resolve });
  });
  before.follow();
  await told;
  const again = reached(new Promise(() => {}));
  const found = await processes.find({ pid: 7 }, again);
  expect(found).not.toBe(before);
  expect(found.isOver).toBe(false);
  expect(await processes.find({ pid: 7 }, again)).toBe(found);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What stays in memory after `make`, in bytes. */
function kept(make: () => unknown): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  const held = [make()];
  collect();
  const after = process.memoryUsage().heapUsed;
  return held.length > 0 ? after - before : 0;
}

test('an ended process keeps its end, and neither its arguments nor its variables', async () => {
  const processes = new Processes();
  const ended = Promise.resolve({ exitCode: 3, signal: null, endedBy: 'exit' });
  const make = () => {
    const large = { cmd: 'true', args: ['x'], envs: { LARGE: 'x' } };
    const followed = new FollowedProcess(reached(ended), 'p1', 7, large, 'mine');
    processes.add(followed);
    followed.follow();
    return new WeakRef(large);
  };
  const config = make();
  const late = await processes.find({ tag: 'mine' }, reached(ended));
  const told = new Promise((resolve) => {
    late.listen({ onData: async () => {}, onEnd: resolve });
  });
  expect(await told).toMatchObject({ exitCode: 3 });
  // A reference holds until the end of the turn that made it.
  await new Promise(setImmediate);
  collect();
  expect(config.deref()).toBeUndefined();
  expect(await processes.list(reached(ended))).toMatchObject([{ pid: 7, config: { args: ['1000'] } }]);
});

test('the words of files and the lines of a log take a bounded part of memory', () => {
  const metadata = new FileMetadata();
  const files = kept(() => {
    for (let file = 0; file < 2000; file++)
      metadata.set(`/workspace/${'d'.repeat(4000)}/${file}`, { origin: Buffer.alloc(4000, 'o').toString() });
    metadata.move('/workspace', '/moved');
    return metadata;
  });
  expect(files).toBeLessThan(4 * 1024 * 1024);
  const newest = `/moved/${'d'.repeat(4000)}/1999`;
  expect(metadata.get(newest)?.origin).toHaveLength(4000);
  const log = new SandboxLog();
  const lines = kept(() => {
    for (let line = 0; line < 100; line++)
      log.add('started', { command: Buffer.alloc(500_000, 'c').toString() });
    return log;
  });
  expect(lines).toBeLessThan(4 * 1024 * 1024);
  expect(log.lines()[0]?.fields.command).toHaveLength(2000);
});
