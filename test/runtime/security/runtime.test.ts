/** The trusted side in a real runtime. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CreateRuntimeOptions,
  createRuntime,
  type Runtime,
  type WorkcellEvent,
} from '../../../src/index.js';
import { rules, verifyAudit } from '../../../src/runtime/security/index.js';

async function withRuntime(
  options: Partial<CreateRuntimeOptions>,
  use: (runtime: Runtime) => Promise<void>,
): Promise<WorkcellEvent[]> {
  const runtime = await createRuntime({ backend: 'cli', config: false, ...options } as CreateRuntimeOptions);
  try {
    await use(runtime);
  } finally {
    await runtime.close();
  }
  const events: WorkcellEvent[] = [];
  for await (const event of runtime.events) events.push(event);
  return events;
}

test('a refused action does not run, and its neighbour does; both are in the events with their decisions', async () => {
  const events = await withRuntime({ guards: [rules()] }, async (runtime) => {
    await expect(runtime.run('touch made && cat ~/.ssh/id_rsa')).rejects.toMatchObject({
      code: 'denied',
      details: { risk: 'high' },
    });
    await expect(runtime.write('/etc/cron.d/x', 'x')).rejects.toMatchObject({ code: 'denied' });
    await expect(runtime.files.download('/etc/shadow')).rejects.toMatchObject({ code: 'denied' });
    await expect(runtime.terminals.open()).rejects.toMatchObject({ code: 'denied' });
    expect((await runtime.run('ls')).output).toBe('');
  });
  const kinds = events.map((event) =>
    event.kind === 'decision' ? `decision ${event.decision.outcome}` : event.kind,
  );
  expect(kinds.filter((kind) => kind === 'decision deny')).toHaveLength(4);
  const at = kinds.indexOf('decision allow');
  expect(kinds.slice(at - 1, at + 2)).toEqual(['action', 'decision allow', 'observation']);
});

test('a person is asked, the question is in the events, and the answer decides', async () => {
  const events = await withRuntime(
    {
      policy: { confirm: ({ reasons }) => ({ answer: reasons.length > 0 ? 'approve' : 'deny', who: 'ann' }) },
    },
    async (runtime) => {
      expect((await runtime.run('X=$(cat /etc/passwd); echo read')).output).toBe('read\n');
    },
  );
  const decisions = events.filter((event) => event.kind === 'decision');
  expect(decisions).toMatchObject([
    { source: 'environment', decision: { outcome: 'pending' } },
    { source: 'user', decision: { outcome: 'allow', by: 'person', who: 'ann' } },
  ]);
});

test('a secret reaches its command and shows nowhere', async () => {
  const value = 'tok-4f9a8b7c6d';
  let streamed = '';
  const events = await withRuntime({ secrets: { API_TOKEN: { value, reach: 'env' } } }, async (runtime) => {
    const { output } = await runtime.run(
      'echo "$API_TOKEN" | tee out; printf %s "$API_TOKEN" | wc -c; printf %s "$API_TOKEN" | base64',
      {
        onOutput: ({ text }) => {
          streamed += text;
        },
      },
    );
    expect(output.split('\n').slice(0, 2)).toEqual(['[hidden:API_TOKEN]', String(value.length)]);
    expect((await runtime.read('out')).content).toBe('[hidden:API_TOKEN]\n');
    expect((await runtime.run('env | grep -c TOKEN || true')).output.trim()).toBe('0');
    await expect(runtime.read(`missing-${value}`)).rejects.toThrow(/\[hidden:API_TOKEN\]/);
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await runtime.files.download('out')).content) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(`${'*'.repeat(value.length)}\n`);
  });
  const everything = JSON.stringify(events) + streamed;
  expect(everything).not.toContain(value);
  expect(everything).not.toContain(Buffer.from(value).toString('base64').slice(0, 16));
  expect(streamed).toContain('[hidden:API_TOKEN]');
});

test('the audit record holds each decision with a digest of what came of it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-audit-'));
  const file = join(directory, 'audit.jsonl');
  try {
    await withRuntime({ policy: {}, audit: { file, sync: false } }, async (runtime) => {
      await runtime.run('true');
      await expect(runtime.run('rm -rf /')).rejects.toMatchObject({ code: 'denied' });
    });
    expect(verifyAudit(file)).toMatchObject({ ok: true, records: 2 });
    const [ran, refused] = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(ran).toMatchObject({
      outcome: 'allow',
      risk: 'low',
      outputDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(refused).toMatchObject({ outcome: 'deny', error: 'denied', action: { command: 'rm -rf /' } });
    expect(refused).not.toHaveProperty('outputDigest');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
