/** What a runtime tells its logger: one line for each action, what led to it at debug, and never what was in it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRuntime, type Logger, type Runtime } from '../../src/index.js';
import { rules } from '../../src/runtime/security/index.js';

interface Line {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

let lines: Line[] = [];
let runtime: Runtime;
const at = (level: keyof Logger) => (fields: object, message: string) =>
  void lines.push({ level, fields: fields as Line['fields'], message });
const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
const started: Line[] = [];

beforeAll(async () => {
  runtime = await createRuntime({
    config: false,
    guards: [rules()],
    policy: { onRisk: { medium: 'allow' } },
    secrets: { TOKEN: { value: 'hunter2-hunter2', reach: 'env' } },
    logger,
  });
  started.push(...lines);
});
beforeEach(() => {
  lines = [];
});
afterAll(() => runtime.close());

const infos = () => lines.filter(({ level }) => level === 'info');

test('the start tells which backend was chosen and why, and what the cell enforces', () => {
  const messages = started.map(({ message }) => message);
  expect(messages).toContain('Backend sandbox is the safest that can start here');
  expect(started.find(({ message }) => message === 'The cell enforces namespace')?.fields).toMatchObject({
    backend: 'sandbox',
    enforced: expect.arrayContaining(['network']),
    startMs: expect.any(Number),
  });
  expect(started.find(({ message }) => message === 'The trusted side is ready')?.fields).toMatchObject({
    guards: ['rules'],
    secrets: ['TOKEN'],
  });
});

test('each action is one line at info, with its outcome and how long it took', async () => {
  await runtime.run('echo private; exit 3', { session: 'log' });
  await runtime.write('private.txt', 'private');
  await expect(runtime.read('missing.txt')).rejects.toThrow();
  await expect(runtime.run('rm -rf /')).rejects.toMatchObject({ code: 'denied' });
  const cell = runtime.id;
  const durationMs = expect.any(Number);
  expect(infos().map(({ fields, message }) => ({ ...fields, message }))).toEqual([
    {
      cell,
      action: 'run',
      outcome: 'ok',
      durationMs,
      exitCode: 3,
      endedBy: 'exit',
      session: 'log',
      message: 'run ok',
    },
    { cell, action: 'write', outcome: 'ok', durationMs, message: 'write ok' },
    { cell, action: 'read', outcome: 'not-found', durationMs, message: 'read not-found' },
    { cell, action: 'run', outcome: 'denied', durationMs, message: 'run denied' },
  ]);
  expect(JSON.stringify(infos())).not.toContain('private');
});

test('debug tells of decisions and sessions', async () => {
  await runtime.run('true', { session: 'second' });
  await runtime.run('true', { session: 'second' });
  await runtime.execute({ action: 'close_session', session: 'second' });
  const debug = lines.filter(({ level }) => level === 'debug');
  expect(debug.filter(({ message }) => message === 'Session opened')).toHaveLength(1);
  expect(debug.find(({ message }) => message === 'Session closed')?.fields).toMatchObject({
    session: 'second',
  });
  expect(debug.find(({ message }) => message === 'run judged: allow')?.fields).toMatchObject({
    by: 'risk',
    risk: 'low',
    judges: ['rules: low'],
  });
});

test('secrets are hidden in the log, too, and a logger that throws fails nothing', async () => {
  await expect(runtime.read('hunter2-hunter2')).rejects.toThrow();
  expect(lines.some(({ level }) => level === 'debug')).toBe(true);
  expect(JSON.stringify(lines)).not.toContain('hunter2-hunter2');
  const { info } = logger;
  logger.info = () => {
    throw new Error('full');
  };
  try {
    expect((await runtime.run('echo on')).output).toBe('on\n');
  } finally {
    logger.info = info;
  }
});
