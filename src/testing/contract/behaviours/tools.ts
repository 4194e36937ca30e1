/** Tools that run in the cell. The test ships the kit from its file, as a user would. */

import type { Runtime } from '../../../index.js';
import { tool } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, eventually, refusal } from '../given.js';
import { alike, useOf } from '../tools/alike.js';
import { hostile, tools } from '../tools/kit.js';

/** Of this package as source, or of its build. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const file = new URL(`../tools/kit.${ending}`, import.meta.url);

const withKit = (runtime: Runtime) => useOf(runtime.add([...tools, ...hostile], file).getTools());

export const toolBehaviours: Behaviours = {
  async 'tools.alike'({ runtime }) {
    const use = withKit(runtime);
    for (const check of Object.values(alike)) await check(use);
  },

  async 'tools.captured'({ runtime }) {
    withKit(runtime);
    await runtime.getTools()[0]?.execute({ a: 1 });
    const call = (say: string) =>
      runtime.execute({ action: 'call_tool', tool: 'sleep', arguments: { ms: 30, say } });
    const answers = await Promise.all(['one', 'two', 'three'].map(call));
    expect(answers.map(({ stdout, stderr }) => [stdout, stderr])).toEqual([
      ['one\n', 'one\n'],
      ['two\n', 'two\n'],
      ['three\n', 'three\n'],
    ]);
  },

  async 'tools.redirected'({ runtime }) {
    const printed: unknown[] = [];
    runtime.add(tools, file, { redirectStdout: (piece) => printed.push(piece) });
    await useOf(runtime.getTools())('sleep', { ms: 0, say: 'hello' });
    expect(printed).toEqual([
      { stream: 'stdout', text: 'hello\n' },
      { stream: 'stderr', text: 'hello\n' },
    ]);
  },

  async 'tools.reset'({ runtime }) {
    const use = withKit(runtime);
    expect(await use('next')).toBe(1);
    expect(await use('next')).toBe(2);
    await runtime.reset();
    expect(await use('next')).toBe(1);
  },

  async 'tools.inside'({ runtime }) {
    const pwd = tool({
      name: 'pwd',
      description: '',
      execute: async (_, { runtime: own }) => [
        process.cwd(),
        own?.workspace,
        (await own?.execute({ action: 'run', command: 'echo from a tool' }))?.output,
      ],
    });
    runtime.add(pwd);
    const { workspace } = runtime;
    expect(await useOf(runtime.getTools())('pwd')).toEqual([workspace, workspace, 'from a tool\n']);
  },

  async 'tools.hostile'({ runtime }) {
    const use = withKit(runtime);
    const works = async () => expect(await use('add', { a: 1, b: 1 })).toBe(2);
    await refusal(use('spin'), 'timed-out');
    await works();
    expect(await use('print')).toBe('printed');
    await works();
    expect((await refusal(use('exit'), 'tool-host-lost')).message).toContain('exited with code 3');
    await works();
    expect(await use('leak')).toBe('left');
    await works();
    expect(await use('fork')).toBe('forked');
    await works();
    await runtime.reset();
    await eventually(async () => {
      const { output } = await runtime.run('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "');
      return !output.includes('sleep 98765 sleep');
    });
  },

  async 'tools.bad-input'({ runtime }) {
    const call = (name: string, given = {}) =>
      runtime.execute({ action: 'call_tool', tool: name, arguments: given });
    await refusal(call('nobody'), 'tool-not-found');
    const use = withKit(runtime);
    await use('add', { a: 1 });
    const misfit = await refusal(call('add', { a: 'x', c: 1 }), 'invalid-arguments');
    expect(misfit.details.issues).toContainEqual({ path: ['a'], message: 'must be number' });
    expect(() => runtime.add(tools.slice(0, 1), file)).toThrow(
      expect.objectContaining({ code: 'invalid-tool' }),
    );
    const other = (name: string) => tool({ name, description: '', execute: () => null });
    const missing = [
      ['./no-such-file.ts', 'does not exist'],
      ['no-such-package-anywhere', 'does not exist'],
      [`${file}#absent`, 'has no export "absent"'],
      [new URL(`nothing.${ending}`, file).href, 'has no tools'],
      [String(file), 'has no tool "other'],
    ];
    for (const [index, [entrypoint, message]] of missing.entries()) {
      runtime.add(other(`other${index}`), entrypoint);
      const error = await refusal(useOf(runtime.getTools())(`other${index}`), 'invalid-tool');
      expect(error.message).toContain(message);
    }
  },
};
