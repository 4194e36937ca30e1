/** A question outlives the process that asked it, and the answer finds the next one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { attachRuntime, createRuntime } from '../../../src/index.js';
import { openConfirmations, rules } from '../../../src/runtime/security/index.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-pending-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const program = fileURLToPath(new URL('../../fixtures/asks-and-waits.ts', import.meta.url));
const command = 'git branch -D no-such-branch 2>/dev/null; echo done';

function start(store: string, timeoutMs = 60_000, kept = false): Asker {
  const child = spawn(
    process.execPath,
    [
      '--import',
      import.meta.resolve('tsx'),
      program,
      store,
      command,
      String(timeoutMs),
      ...(kept ? ['kept'] : []),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, exited: once(child, 'exit') };
}

interface Asker {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly exited: Promise<unknown>;
}

/** Reads lines until one begins so. */
async function untilLine({ lines }: Asker, beginning: string): Promise<string> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the program ended without "${beginning}"`);
    if (value.startsWith(beginning)) return value;
  }
}

test('a question survives kill -9 of who asked, and the answer counts for the one that asks again', async () => {
  const store = `sqlite:${join(directory, 'restart.db')}`;
  const first = start(store, 60_000, true);
  const [, cell = ''] = (await untilLine(first, 'cell')).split(' ');
  await untilLine(first, 'pending');
  first.child.kill('SIGKILL');
  await first.exited;

  const options = { config: false as const, events: { store }, guards: [rules()] };
  await using again = await attachRuntime(cell, {
    ...options,
    backend: 'local',
    policy: { pending: 'store' },
  });
  await using desk = await openConfirmations(store);
  const [waiting] = await desk.list();
  expect(waiting).toMatchObject({ cell, action: { action: 'run', command }, risk: 'medium' });
  await desk.answer(waiting?.id ?? '', 'approve', 'alice');
  expect(await desk.list()).toEqual([]);
  await expect(desk.answer(waiting?.id ?? '', 'deny')).rejects.toThrow(/no open confirmation/);

  await using other = await createRuntime({
    ...options,
    backend: 'cli',
    policy: { pending: 'store', confirmTimeoutMs: 1 },
  });
  await expect(other.run(command)).rejects.toMatchObject({ code: 'confirmation-timeout' });
  expect((await again.run(command)).output).toContain('done');
  const decisions = [];
  for await (const event of again.events.since(0, { kinds: ['decision', 'observation'] })) {
    if (event.kind === 'observation') break;
    if (event.kind === 'decision') decisions.push(event.decision);
  }
  expect(decisions).toMatchObject([{ outcome: 'allow', by: 'person', who: 'alice', requestId: waiting?.id }]);
});

test('another process answers while the asker waits, and an answer that never comes is a refusal', async () => {
  const store = `sqlite:${join(directory, 'live.db')}`;
  const asker = start(store);
  await untilLine(asker, 'pending');
  await using desk = await openConfirmations(store);
  const [waiting] = await desk.list();
  const ran = untilLine(asker, 'ran');
  await desk.answer(waiting?.id ?? '', 'approve', 'bob');
  expect(await ran).toBe('ran done');
  await asker.exited;

  const late = start(store, 1);
  expect(await untilLine(late, 'refused')).toBe('refused confirmation-timeout');
  await late.exited;
  expect(await desk.list()).toEqual([]);
});

test('a question shows no secret, and is still the same question', async () => {
  const store = `sqlite:${join(directory, 'masked.db')}`;
  const options = {
    backend: 'cli' as const,
    config: false as const,
    events: { store },
    guards: [rules()],
    secrets: { TOKEN: { value: 'swordfish-swordfish' } },
  };
  await using desk = await openConfirmations(store);
  await using asking = await createRuntime({ ...options, policy: { pending: 'store' } });
  const secret = 'git branch -D swordfish-swordfish 2>/dev/null; echo done';
  const running = asking.run(secret);
  const asked = (async () => {
    for await (const event of asking.events.since(0, { kinds: ['decision'] })) return event;
  })();
  await asked;
  const [waiting] = await desk.list();
  expect(JSON.stringify(waiting)).not.toContain('swordfish');
  await desk.answer(waiting?.id ?? '', 'approve', 'carol');
  expect((await running).output).toContain('done');
});
