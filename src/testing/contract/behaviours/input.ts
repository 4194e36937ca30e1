import { expect } from '../expect.js';
import { type Behaviours, begin, finish, fixture, refusal, say, sh } from '../given.js';

export const inputBehaviours: Behaviours = {
  'input.line': async ({ runtime }) => {
    await begin(runtime, 'read -r -p "name? " name; echo "hello $name"', /name\? /);
    expect(await say(runtime, 'Ada Lovelace', /hello Ada Lovelace/)).toMatchObject({
      exitCode: 0,
      endedBy: 'exit',
    });
    expect(await sh(runtime, 'echo free')).toBe('free\n');
  },

  'input.no-echo': async ({ runtime }) => {
    await begin(runtime, 'stty -echo; echo ready; read -r line; echo "got ${#line}"', /ready/);
    const result = await say(runtime, 'unseen', /got 6/);
    expect(result.output).not.toContain('unseen');
    expect(result.exitCode).toBe(0);
    expect(await sh(runtime, 'echo next; stty echo')).toBe('next\n');
  },

  'input.password': async ({ runtime }) => {
    await begin(runtime, 'read -r -s -p "Password: " word; echo; echo "length ${#word}"', /Password: /);
    const result = await say(runtime, 's3cret', /length 6/);
    expect(result.output).not.toContain('s3cret');
    expect(result.exitCode).toBe(0);
  },

  'input.python': async ({ runtime }) => {
    await begin(runtime, 'python3 -q', />>> /);
    await say(runtime, 'x = 6 * 7', />>> /);
    expect((await say(runtime, 'print("x is", x)', /x is 42/)).endedBy).toBe('no-change');
    expect(await finish(runtime, 'raise SystemExit(3)')).toMatchObject({ exitCode: 3, endedBy: 'exit' });
    expect(await sh(runtime, 'echo back')).toBe('back\n');
  },

  'input.node': async ({ runtime }) => {
    await begin(runtime, 'node -i', /^>/m);
    await say(runtime, 'const x = 6 * 7', /undefined/);
    await say(runtime, 'console.log("x is", x)', /x is 42/);
    expect(await finish(runtime, '.exit')).toMatchObject({ exitCode: 0, endedBy: 'exit' });
  },

  'input.nested-shell': async ({ runtime }) => {
    await begin(runtime, "PS1='inner> ' bash --norc", /inner> /);
    await say(runtime, 'echo $((20 + 3))', /\b23\b/);
    expect(await finish(runtime, 'exit 4')).toMatchObject({ exitCode: 4, endedBy: 'exit' });
    expect(await sh(runtime, 'echo outer')).toBe('outer\n');
  },

  'input.interrupt': async ({ runtime }) => {
    await begin(runtime, 'echo waiting; sleep 1000; echo not reached', /waiting/);
    const result = await finish(runtime, 'C-c');
    expect(result).toMatchObject({ exitCode: 130, endedBy: 'exit' });
    expect(result.output).not.toContain('not reached');
    await begin(runtime, 'echo looping; while :; do :; done', /looping/);
    expect(await finish(runtime, 'C-c')).toMatchObject({ exitCode: 130, endedBy: 'exit' });
    expect(await sh(runtime, 'echo free')).toBe('free\n');
  },

  'input.suspend': async ({ runtime }) => {
    await begin(runtime, 'bash -c "echo waiting; exec sleep 1000"', /waiting/);
    expect(await finish(runtime, 'C-z')).toMatchObject({ endedBy: 'exit' });
    expect(await sh(runtime, 'jobs')).toMatch(/Stopped/i);
    await sh(runtime, 'kill -9 %1; wait %1 2>/dev/null; true');
    expect(await sh(runtime, 'echo free')).toBe('free\n');
  },

  'input.end': async ({ runtime }) => {
    await begin(runtime, 'echo reading; cat', /reading/);
    await say(runtime, 'a line', /a line/);
    expect(await finish(runtime, 'C-d')).toMatchObject({ exitCode: 0, endedBy: 'exit' });
  },

  'input.pager': async ({ runtime }) => {
    await sh(runtime, 'seq 1 5000 > numbers.txt');
    await begin(runtime, 'less numbers.txt', /\b1\n2\n3\n/);
    expect(await finish(runtime, 'q')).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    expect(await sh(runtime, 'echo free')).toBe('free\n');
  },

  'input.git-log': async ({ runtime }) => {
    await sh(runtime, 'git init -q . && git config user.email a@example.org && git config user.name A');
    await sh(runtime, 'for n in $(seq 100); do git commit -q --allow-empty -m "commit $n"; done');
    const log = await runtime.run('git log', { timeoutMs: 30_000 });
    expect(log).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    expect(log.output).toContain('commit 100\n');
    expect(log.output).toContain('commit 1\n');
  },

  'input.alternate-screen': async ({ runtime }) => {
    const program = await fixture(runtime, 'alternate-screen');
    const shown = await begin(runtime, `echo before; ${program}`, /inside the screen/);
    expect(shown).not.toContain('\x1b');
    const left = await say(runtime, 'x', /left with x/);
    expect(left).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    expect(left.output).not.toContain('inside the screen');
    expect(left.output).not.toContain('\x1b');
  },

  'input.raw-terminal': async ({ runtime }) => {
    const program = await fixture(runtime, 'raw-terminal');
    await runtime.run(program, { timeoutMs: 20_000 });
    expect(await sh(runtime, 'echo one; echo two', { timeoutMs: 20_000 })).toBe('one\ntwo\n');
    await begin(runtime, 'read -r line; echo "got $line"', /^/);
    expect((await say(runtime, 'typed', /got typed/)).exitCode).toBe(0);
    await begin(runtime, 'echo waiting; sleep 1000', /waiting/);
    expect((await finish(runtime, 'C-c')).exitCode).toBe(130);
  },

  'input.unread': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    const deaf = 'stty raw -echo; echo deaf; read -r word < gate; head -c 200001 | wc -c; stty sane';
    await begin(runtime, deaf, /deaf/);
    await runtime.run('a'.repeat(200_000), { input: true, noChangeTimeoutMs: 150 });
    expect(await sh(runtime, 'echo free', { session: 'other' })).toBe('free\n');
    await sh(runtime, 'echo go > gate', { session: 'other' });
    const result = await runtime.run('', { timeoutMs: 20_000 });
    expect(result).toMatchObject({
      output: expect.stringMatching(/^200001\s*$/),
      exitCode: 0,
      endedBy: 'exit',
    });
  },

  'input.later-output': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    const first = await begin(runtime, 'echo early; read -r word < gate; echo "late $word"', /early/);
    expect(first).toBe('early\n');
    // Without a limit it answers at once: the command cannot end before the gate opens.
    expect(await runtime.run('')).toMatchObject({ output: '', exitCode: null, endedBy: 'no-change' });
    await sh(runtime, 'echo go > gate', { session: 'other' });
    const later = await runtime.run('', { timeoutMs: 20_000 });
    expect(later).toMatchObject({ command: '', output: 'late go\n', exitCode: 0, endedBy: 'exit' });
  },

  'input.busy': async ({ runtime }) => {
    await begin(runtime, 'echo first; read -r word; echo "word $word"', /first/);
    const error = await refusal(runtime.run('echo second'), 'session-busy');
    expect(error.retryable).toBe(true);
    expect(error.message).toContain('empty command');
    expect(await say(runtime, 'kept', /word kept/)).toMatchObject({ exitCode: 0, endedBy: 'exit' });
  },

  'input.nothing-runs': async ({ runtime }) => {
    await sh(runtime, 'true');
    await refusal(runtime.run('hello', { input: true }), 'session-not-running');
    await refusal(runtime.run('C-c', { input: true }), 'session-not-running');
    expect(await sh(runtime, 'echo unharmed')).toBe('unharmed\n');
  },
};
