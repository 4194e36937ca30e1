import type { ActionInput } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, refusal, sh } from '../given.js';

export const refusalBehaviours: Behaviours = {
  'refused.unknown-action': async ({ runtime }) => {
    for (const action of [
      { action: 'teleport' },
      {},
      { action: 'toString' },
      { action: '__proto__' },
      null,
      'run',
      7,
    ]) {
      const error = await refusal(runtime.execute(action as never), 'invalid-action');
      expect(error.message).toContain('read_output');
    }
  },

  'refused.unknown-key': async ({ runtime }) => {
    const error = await refusal(
      runtime.execute({ action: 'run', command: 'true', tiemout: 5 } as never),
      'invalid-action',
    );
    expect(error.message).toContain('tiemout');
  },

  'refused.bad-value': async ({ runtime }) => {
    const bad: [ActionInput, string][] = [
      [{ action: 'run', command: 7 } as never, 'command'],
      [{ action: 'run', command: 'true', timeoutMs: -1 }, 'timeoutMs'],
      [{ action: 'run', command: 'true', timeoutMs: 1.5 }, 'timeoutMs'],
      [{ action: 'read', path: '' }, 'path'],
      [{ action: 'read', path: 'x', startLine: 0 }, 'startLine'],
      [{ action: 'run', command: 'true', session: '' }, 'session'],
      [{ action: 'run', command: 'true', env: { 'A-B': 'x' } }, 'env'],
    ];
    for (const [action, field] of bad) {
      const error = await refusal(runtime.execute(action as never), 'invalid-action');
      expect(error.message).toContain(field);
    }
  },

  'refused.nul-in-path': async ({ runtime }) => {
    await refusal(runtime.read('a\0b'), 'invalid-action');
    await refusal(runtime.write('a\0b', 'x'), 'invalid-action');
    await refusal(runtime.run('echo a\0b'), 'invalid-action');
    await refusal(runtime.processes.start(['echo', 'a\0b']), 'invalid-action');
    expect(await sh(runtime, 'echo unharmed')).toBe('unharmed\n');
  },

  'refused.unknown-session': async ({ runtime }) => {
    await refusal(runtime.execute({ action: 'close_session', session: 'nowhere' }), 'session-not-found');
    await refusal(runtime.run('hello', { input: true, session: 'nowhere' }), 'session-not-found');
    await refusal(runtime.run('', { session: 'nowhere' }), 'session-not-found');
  },

  'refused.missing-cwd': async ({ runtime }) => {
    await refusal(runtime.run('pwd', { cwd: 'no/such/folder' }), 'not-found');
    await refusal(runtime.processes.start(['pwd'], { cwd: 'no/such/folder' }), 'not-found');
    expect(await sh(runtime, 'echo unharmed')).toBe('unharmed\n');
  },
};
