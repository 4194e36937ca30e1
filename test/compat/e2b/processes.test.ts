import { expect, test } from 'vitest';
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
