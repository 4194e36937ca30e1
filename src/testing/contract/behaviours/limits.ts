import { expect } from '../expect.js';
import {
  type Behaviours,
  begin,
  countProcesses,
  eventually,
  fixture,
  refusal,
  sh,
  uniqueWord,
} from '../given.js';

export const limitBehaviours: Behaviours = {
  'limits.no-change': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    const soft = await runtime.run('echo alive; read -r word < gate; echo "got $word"', {
      noChangeTimeoutMs: 300,
    });
    expect(soft).toMatchObject({ output: 'alive\n', exitCode: null, endedBy: 'no-change' });
    const { sessions } = await runtime.execute({ action: 'list_sessions' });
    expect(sessions.find(({ session }) => session === 'default')?.running).toContain('alive');
    await sh(runtime, 'echo word > gate', { session: 'other' });
    const rest = await runtime.run('', { timeoutMs: 20_000 });
    expect(rest).toMatchObject({ output: 'got word\n', exitCode: 0, endedBy: 'exit' });
    // Steady output keeps the soft timeout away.
    const chatty = 'for n in 1 2 3 4 5 6; do echo $n; sleep 0.1; done';
    expect(await runtime.run(chatty, { noChangeTimeoutMs: 500 })).toMatchObject({
      exitCode: 0,
      endedBy: 'exit',
    });
  },

  'limits.timeout': async ({ runtime }) => {
    const word = uniqueWord();
    const command = `kept=1; echo started; bash -c 'exec -a ${word} sleep 1000' & bash -c 'exec -a ${word} sleep 1000'`;
    const result = await runtime.run(command, { timeoutMs: 700 });
    expect(result).toMatchObject({ exitCode: null, endedBy: 'timeout' });
    expect(result.output).toContain('started\n');
    expect(result.durationMs).toBeGreaterThanOrEqual(690);
    expect(result.durationMs).toBeLessThan(10_000);
    expect(await sh(runtime, 'echo next')).toBe('next\n');
    expect(await countProcesses(runtime, word)).toBe(0);
  },

  'limits.timeout-double-fork': async ({ runtime }) => {
    const word = uniqueWord();
    const program = await fixture(runtime, 'detach');
    expect(await runtime.run(`${program} ${word}; sleep 1000`, { timeoutMs: 1000 })).toMatchObject({
      endedBy: 'timeout',
    });
    expect(await countProcesses(runtime, word)).toBe(0);
    expect(await sh(runtime, 'echo next')).toBe('next\n');
  },

  'limits.timeout-ignored-signals': async ({ runtime }) => {
    const word = uniqueWord();
    const program = await fixture(runtime, 'stubborn');
    // Long enough for the program to start on a busy machine: the test is about how it ends.
    const result = await runtime.run(`${program} ${word}`, { timeoutMs: 2000 });
    expect(result).toMatchObject({ output: 'started\n', endedBy: 'timeout' });
    expect(await countProcesses(runtime, word)).toBe(0);
    expect(await sh(runtime, 'echo next')).toBe('next\n');
  },

  'limits.cancel': async ({ runtime }) => {
    const word = uniqueWord();
    const controller = new AbortController();
    const result = await runtime.run(`echo started; bash -c 'exec -a ${word} sleep 1000'`, {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(result).toMatchObject({ exitCode: null, endedBy: 'cancelled' });
    // An interrupt that meets bash itself, between its commands, makes it end the line as it would for a person.
    expect(result.output).toMatch(/^started\n\n?$/);
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'the command is gone');
    expect(await sh(runtime, 'echo next')).toBe('next\n');
  },

  'limits.cancel-early': async ({ runtime }) => {
    await refusal(runtime.run('touch never', { signal: AbortSignal.abort() }), 'cancelled');
    expect(await runtime.files.exists('never')).toBe(false);
  },

  'limits.output': async ({ runtime }) => {
    const result = await runtime.run('yes', { outputLimitBytes: 100_000, timeoutMs: 30_000 });
    expect(result).toMatchObject({ exitCode: null, endedBy: 'output-limit' });
    expect(result.output).toMatch(/^y\ny\n/);
    expect(await sh(runtime, 'echo next')).toBe('next\n');
    await begin(runtime, 'echo short; cat', /short/, { outputLimitBytes: 100_000 });
  },
};
