import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { definePlugin, type PluginRuntime } from '../../../src/cell/plugins/plugin.js';
import { createRuntime } from '../../../src/index.js';
import { defineAction } from '../../../src/protocol/index.js';

const shout = defineAction('shout', {
  summary: 'Says it louder.',
  input: { text: z.string() },
  kinds: { text: 'plain' },
  output: { text: z.string(), starts: z.int() },
});

function loud(life: string[] = [], more: { early?: boolean } = {}) {
  return definePlugin({
    name: 'loud',
    version: '1.0.0',
    summary: 'Shouts.',
    actions: { shout },
    environment: { LOUDNESS: '11' },
    ...more,
    async initialize(cell) {
      life.push('initialize');
      const { stdout } = await cell.spawn(['sh', '-c', 'printf %s "$LOUDNESS"']);
      const level = (await stdout.toArray()).join('');
      return {
        handlers: {
          shout: ({ text }) => ({
            text: `${text.toUpperCase()} ${level}`,
            starts: life.length,
          }),
        },
        dispose: () => void life.push('dispose'),
      };
    },
  });
}

const ask = (text: unknown) => ({ action: 'shout', text }) as never;

describe('a plugin', () => {
  test('adds an action, starts once at its first use, and is let go of with the cell', async () => {
    const life: string[] = [];
    const runtime = await createRuntime({ backend: 'cli', plugins: [loud(life)] });
    expect(life).toEqual([]);
    const answers = await Promise.all([runtime.execute(ask('a')), runtime.execute(ask('b'))]);
    expect(answers).toEqual([
      { observation: 'shout', text: 'A 11', starts: 1 },
      { observation: 'shout', text: 'B 11', starts: 1 },
    ]);
    expect((await runtime.run('echo $LOUDNESS')).output).toBe('11\n');
    await runtime.close();
    expect(life).toEqual(['initialize', 'dispose']);
  });

  test('is judged, recorded and checked like any other action', async () => {
    await using runtime = await createRuntime({ backend: 'cli', plugins: [loud()] });
    await expect(runtime.execute(ask(7))).rejects.toMatchObject({ code: 'invalid-action' });
    await runtime.execute(ask('a'));
    const kinds: string[] = [];
    for await (const event of runtime.events) {
      kinds.push(event.kind);
      if (event.kind === 'observation') break;
    }
    expect(kinds.slice(-2)).toEqual(['action', 'observation']);
  });

  test('that asks for it starts together with the cell', async () => {
    const life: string[] = [];
    const runtime = await createRuntime({ backend: 'cli', plugins: [loud(life, { early: true })] });
    await runtime.close();
    expect(life).toEqual(['initialize', 'dispose']);
  });

  test('may make its variables in the cell, and starts when they are set', async () => {
    const life: string[] = [];
    const plugin = definePlugin({
      ...loud(life, { early: true }),
      environment: async (cell) => ({ LOUDNESS: cell.workspace }),
    });
    await using runtime = await createRuntime({ backend: 'cli', plugins: [plugin] });
    expect(await runtime.execute(ask('a'))).toMatchObject({ text: `A ${runtime.workspace}` });
    expect((await runtime.run('echo $LOUDNESS')).output).toBe(`${runtime.workspace}\n`);
  });

  test('that cannot make its variables harms nothing else', async () => {
    const environment = async () => {
      throw new Error('no place for it');
    };
    const broken = definePlugin({
      ...loud(),
      name: 'broken',
      actions: {},
      environment,
      initialize: async () => ({ handlers: {} }),
    });
    await using runtime = await createRuntime({ backend: 'cli', plugins: [broken, loud()] });
    expect(await runtime.execute(ask('a'))).toMatchObject({ text: 'A 11' });
  });

  test('whose answer does not fit its own schema is a defect that is told', async () => {
    const plugin = definePlugin({
      ...loud(),
      initialize: async () => ({ handlers: { shout: () => ({}) as never } }),
    });
    await using runtime = await createRuntime({ backend: 'cli', plugins: [plugin] });
    await expect(runtime.execute(ask('a'))).rejects.toMatchObject({ code: 'internal' });
  });

  test('that misses something says what, harms nothing else, and works once it is there', async () => {
    const plugin = definePlugin({
      ...loud(),
      requirements: [{ name: 'a marker', check: ['test', '-e', 'marker'], install: 'touch marker' }],
      async initialize(cell) {
        await cell.execute<'stat'>({ action: 'stat', path: 'marker' });
        return { handlers: { shout: () => ({ text: 'there', starts: 0 }) } };
      },
    });
    await using runtime = await createRuntime({ backend: 'cli', plugins: [plugin] });
    const message =
      'Plugin "loud" cannot start. It needs a marker, which is missing in the cell: touch marker';
    await expect(runtime.execute(ask('a'))).rejects.toMatchObject({ code: 'plugin-unavailable', message });
    expect(await runtime.capabilities()).toMatchObject([{ name: 'loud', state: 'unavailable' }]);
    expect((await runtime.run('touch marker')).exitCode).toBe(0);
    expect(await runtime.execute(ask('a'))).toMatchObject({ text: 'there' });
    expect(await runtime.capabilities()).toMatchObject([{ name: 'loud', state: 'ready' }]);
  });

  test('brings verbs, each made once, when it is first used', async () => {
    const made: string[] = [];
    const plugin = {
      ...loud(),
      verbs: {
        shout: (runtime: PluginRuntime) => {
          made.push('shout');
          return async (text: string) => ((await runtime.execute(ask(text))) as { text?: string }).text;
        },
        volume: () => made.push('volume'),
      },
    };
    await using runtime = await createRuntime({ backend: 'cli', plugins: [plugin] });
    const loudly = runtime as unknown as { shout(text: string): Promise<string> };
    expect(made).toEqual([]);
    expect(await Promise.all([loudly.shout('a'), loudly.shout('b')])).toEqual(['A 11', 'B 11']);
    expect(made).toEqual(['shout']);
  });

  test('brings verbs that reach what the pipeline judges, and nothing beside it', async () => {
    const plugin = { ...loud(), verbs: { given: (runtime: PluginRuntime) => runtime } };
    await using runtime = await createRuntime({
      backend: 'cli',
      plugins: [plugin],
      guards: [{ name: 'no', analyze: () => ({ risk: 'high', reasons: ['No.'], refused: true }) }],
    });
    const { given } = runtime as unknown as { given: PluginRuntime };
    expect(Object.getPrototypeOf(given)).toBe(Object.prototype);
    const { workspace, ports, ...calls } = given;
    expect(workspace).toBe(runtime.workspace);
    const all: Record<string, (...words: never[]) => Promise<unknown>> = { ...calls, ...ports };
    expect(Object.keys(all).sort()).toEqual(['download', 'execute', 'forward', 'openTerminal', 'upload']);
    const words: Record<string, unknown[]> = {
      execute: [{ action: 'run', command: 'true' }],
      upload: ['a', Readable.from([Buffer.from('b')])],
      download: ['.'],
      openTerminal: [],
      forward: [80],
    };
    for (const [name, call] of Object.entries(all))
      await expect(call(...(words[name] as never[])), name).rejects.toMatchObject({ code: 'denied' });
  });
});

describe('a list of plugins', () => {
  test.each([
    ['an unknown name', ['no-such-plugin'], 'Plugin "no-such-plugin" cannot be loaded'],
    ['an object of another kind', [{ name: 'x', initialize() {} } as never], '"x" is not a plugin: version'],
    ['a verb of a runtime', [{ ...loud(), verbs: { close: () => 1 } } as never], 'brings a verb "close"'],
    [
      'a verb of this package',
      [{ ...loud(), verbs: { runCode: () => 1 } } as never],
      'brings a verb "runCode"',
    ],
    ['a verb that is none', [{ ...loud(), verbs: { hear: 1 } } as never], 'verbs.hear: must be a function'],
    [
      'a verb that every await would call',
      [{ ...loud(), verbs: Object.fromEntries([['then', () => 1]]) } as never],
      'verbs.then: ',
    ],
    ['a name twice', [loud(), loud()], 'brings an action "shout", which exists already'],
  ])('with %s is refused', async (_what, plugins, message) => {
    const starting = createRuntime({ backend: 'cli', plugins });
    await expect(starting).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining(message),
    });
  });

  test('with an object cannot cross to an executor in another process', async () => {
    await expect(createRuntime({ backend: 'local', plugins: [loud()] })).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('is an object, and this backend'),
    });
  });
});
