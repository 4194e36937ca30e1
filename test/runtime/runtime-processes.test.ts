/** What of a process's input stays in the record. */
import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import type { Analyzer } from '../../src/runtime/security/index.js';

test('input that is recorded by its size is judged in full', async () => {
  const judged: unknown[] = [];
  const guard: Analyzer = {
    name: 'listening',
    analyze(action) {
      if (action.action === 'write_process') judged.push(action.data);
      return { risk: 'low', reasons: [] };
    },
  };
  await using runtime = await createRuntime({ config: false, backend: 'cli', guards: [guard] });
  const { id } = await runtime.processes.start('cat', { keepStdin: true });
  await runtime.processes.write(id, 'open,');
  await runtime.processes.write(id, Buffer.from('secret').toString('base64'), {
    encoding: 'base64',
    record: 'size',
  });
  await runtime.processes.write(id, '', { end: true, record: 'size' });
  expect((await runtime.processes.wait(id)).stdout).toBe('open,secret');
  expect(judged).toEqual(['open,', Buffer.from('secret').toString('base64'), '']);
  const written: unknown[] = [];
  for await (const event of runtime.events.since(0, { kinds: ['action'] })) {
    if (event.kind !== 'action') continue;
    if (event.action.action === 'write_process') written.push(event.action);
    if (event.action.action === 'wait_process') break;
  }
  expect(written).toMatchObject([
    { id, data: 'open,' },
    { id, data: '(6 bytes)', encoding: 'utf8' },
    { id, data: '(0 bytes)', end: true },
  ]);
});
