import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime, type Runtime, type WorkspaceOption } from '../../../src/index.js';
import { LayerStore } from '../../../src/runtime/checkpoints/layer-store.js';
import { OtherPlaces } from '../../../src/runtime/checkpoints/other-places.js';

const given = { config: false as const, plugins: [], tools: [] };
const text = async (cell: Runtime, command: string) => (await cell.run(command)).output.trim();

it('holds the home directory and temporary files in checkpoints, and in forks, when asked to', async () => {
  const shown = mkdtempSync(join(tmpdir(), 'places-'));
  mkdirSync(join(shown, 'inner'));
  writeFileSync(join(shown, 'inner/file'), 'mine');
  try {
    await using runtime = await createRuntime({
      ...given,
      backend: 'sandbox',
      workspace: { mode: 'empty', also: ['home', 'tmp'] },
      readOnly: [shown],
    });
    const look = '(cd; cat .state; ls -A; cd /tmp; cat state; stat -c %a . state; ls)';
    await runtime.run(
      'echo 1 | tee ~/.state /tmp/state w; chmod 640 /tmp/state; mkdir -p ~/.config/a; ln -s /etc/passwd ~/link; mkfifo /tmp/pipe',
    );
    const before = await text(runtime, look);
    const first = await runtime.checkpoint();
    await runtime.run(
      'echo 2 | tee ~/.state /tmp/state w; rm -r ~/.config; echo new > /tmp/new; rm /tmp/pipe',
    );
    const after = await text(runtime, look);
    expect(after).not.toBe(before);

    const [one, two] = (await Promise.all([runtime.fork({ from: first }), runtime.fork()])).flat();
    await using old = one as Runtime;
    await using present = two as Runtime;
    expect(await text(old, look)).toBe(before);
    expect(await text(present, look)).toBe(after);
    await old.run('echo fork > ~/.state; rm /tmp/state');
    expect(await text(runtime, look)).toBe(after);

    const { recovery, changes } = await runtime.rewind(first);
    expect(changes.map(({ path }) => path)).toEqual(['w']);
    expect(await text(runtime, look)).toBe(before);
    await runtime.rewind(recovery);
    expect(await text(runtime, look)).toBe(after);
    await runtime.rewind(first, { recovery: false });
    expect(await text(runtime, look)).toBe(before);
    expect(await text(runtime, `cat ${shown}/inner/file`)).toBe('mine');
    expect(readFileSync(join(shown, 'inner/file'), 'utf8')).toBe('mine');
  } finally {
    rmSync(shown, { recursive: true });
  }
});

it('makes an automatic checkpoint of them alone', async () => {
  const workspace: WorkspaceOption = { mode: 'empty', also: ['home'], automatic: true };
  await using runtime = await createRuntime({ ...given, backend: 'sandbox', workspace });
  await runtime.run('echo 1 > ~/state');
  await runtime.run('echo 2 > ~/state');
  await runtime.run('true');
  const before = runtime.checkpoints();
  await runtime.run('true');
  expect(runtime.checkpoints().map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(before.length).toBe(3);
  await runtime.rewind(before[1]?.id ?? '');
  expect(await text(runtime, 'cat ~/state')).toBe('1');
});

it('leaves them alone unless asked, and refuses where nobody reaches them', async () => {
  await using runtime = await createRuntime({ ...given, backend: 'sandbox', workspace: { mode: 'empty' } });
  await runtime.run('echo 1 > ~/state');
  const first = await runtime.checkpoint();
  await runtime.run('echo 2 > ~/state');
  await runtime.rewind(first);
  expect(await text(runtime, 'cat ~/state')).toBe('2');
  const workspace: WorkspaceOption = { mode: 'empty', also: ['home'] };
  for (const starting of [
    createRuntime({ ...given, backend: 'cli', workspace }),
    createRuntime({ ...given, backend: 'sandbox', keeper: true, workspace }),
  ])
    await expect(starting).rejects.toMatchObject({ code: 'capability-unsupported' });
});

it('says so where one could not go back whole', async () => {
  const root = mkdtempSync(join(tmpdir(), 'places-'));
  try {
    const [home, scratch, upper, layers] = ['home', 'scratch', 'upper', 'layers'].map((name) => {
      mkdirSync(join(root, name));
      return join(root, name);
    }) as [string, string, string, string];
    const store = new LayerStore(layers);
    const limits = {};
    const places = new OtherPlaces({
      paths: new Map([['home', home]]),
      store,
      scratch,
      limits,
      mapped: undefined,
    });
    const capture = async () => {
      const held = await store.capture({ upper, base: upper, merged: upper }, undefined, limits);
      await places.capture(held);
      return held;
    };
    writeFileSync(join(home, 'state'), '1');
    const goal = await capture();
    rmSync(join(home, 'state'));
    const present = await capture();
    mkdirSync(join(home, 'state'));
    await expect(places.restore(goal, present)).rejects.toMatchObject({
      message: expect.stringContaining('Go back again'),
      details: { paths: ['home/state'] },
    });
  } finally {
    rmSync(root, { recursive: true });
  }
});
