/** Checkpoints of cells that outlive the program that made them. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { attachRuntime, createRuntime, type Runtime, type WorkcellEvent } from '../../src/index.js';

const root = mkdtempSync(join(tmpdir(), 'workcell-kept-checkpoints-'));
const from = join(root, 'repo');
const kept = join(root, 'state', 'workcell', 'checkpoints');
const { XDG_STATE_HOME: before } = process.env;
const backends = ['sandbox', 'local'] as const;

beforeAll(() => {
  process.env.XDG_STATE_HOME = join(root, 'state');
});
afterAll(() => {
  if (before === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = before;
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  rmSync(from, { recursive: true, force: true });
  mkdirSync(from);
  for (const name of ['mine', 'ours', 'gone']) writeFileSync(join(from, name), `${name}\n`);
});

const common = { config: false, events: { store: 'memory' }, plugins: [] } as const;
const start = (backend: (typeof backends)[number], mode: 'overlay' | 'copy' = 'overlay') =>
  createRuntime({ ...common, backend, keepAlive: true, workspace: { from, mode, keep: 2 } });
const attach = ({ id }: Runtime, backend: (typeof backends)[number]) =>
  attachRuntime(id, { ...common, backend });
const shown = async (runtime: Runtime, command: string) => (await runtime.run(command)).output;

it.each(backends)('a kept cell of %s has its checkpoints in the next program, too', async (backend) => {
  const first = await start(backend);
  await first.run('echo more >> ours; rm gone; echo theirs > mine');
  const one = await first.checkpoint('one');
  await first.run('echo 2 > two; ln -s two link; chmod 600 ours');
  const two = await first.checkpoint();
  await first.detach();
  writeFileSync(join(kept, first.id, 'layers', 'layer-77'), 'of one that was killed');
  writeFileSync(join(from, 'mine'), 'edited meanwhile\n');

  const again = await attach(first, backend);
  try {
    expect(again.checkpoints()).toEqual([one, two]);
    await again.run('rm two ours');
    const { recovery } = await again.rewind(two);
    expect(await shown(again, 'cat link; stat -c %a ours; ls -1')).toBe('2\n600\nlink\nmine\nours\ntwo\n');
    expect(again.checkpoints()).toEqual([two, recovery]);
    expect(recovery.parent).toBe(two.id);
    expect((await again.diff()).map(({ change, path }) => `${change} ${path}`)).toEqual([
      'removed gone',
      'added link',
      'changed mine',
      'changed ours',
      'added two',
    ]);
    expect(await again.apply(from)).toMatchObject({
      applied: false,
      conflicts: [{ path: 'mine', reason: 'changed' }],
    });
    expect(await again.apply(from, { onConflict: 'skip' })).toMatchObject({ applied: true });
    expect(readdirSync(from).sort()).toEqual(['link', 'mine', 'ours', 'two']);
    expect(readFileSync(join(from, 'mine'), 'utf8')).toBe('edited meanwhile\n');
    await expect.poll(() => readdirSync(join(kept, first.id, 'layers'))).toHaveLength(2 + 1);
    await expect(again.fork()).rejects.toMatchObject({ code: 'capability-unsupported' });
  } finally {
    await again.close();
  }
  expect(readdirSync(kept)).toEqual([]);
});

it.each(backends)('a kept cell of %s forks into kept cells', async (backend) => {
  const first = await start(backend, 'copy');
  const all = [first];
  try {
    await first.run('echo more >> ours; printf x > both; ln both other');
    const [fork] = (await first.fork()) as [Runtime];
    all.push(fork);
    const recorded: WorkcellEvent[] = [];
    for await (const event of fork.events.since(0, { kinds: ['checkpoint'] })) {
      recorded.push(event);
      break;
    }
    expect(recorded).toMatchObject([{ checkpoint: { change: 'began', runtime: first.id } }]);
    await fork.run('echo fork > mine; rm ours');
    await fork.detach();
    all[1] = await attach(fork, backend);
    const [, again] = all as [Runtime, Runtime];
    expect((await again.diff(again.checkpoints()[0])).map(({ path }) => path)).toEqual(['mine', 'ours']);
    expect(await shown(first, 'cat mine')).toBe('mine\n');
    await first.run('echo own > own');
    expect(await first.merge(again)).toMatchObject({ applied: true, conflicts: [] });
    expect(await shown(first, 'cat mine own; ls -1')).toBe('fork\nown\nboth\ngone\nmine\nother\nown\n');
  } finally {
    for (const runtime of all) await runtime.close();
  }
  expect(readdirSync(kept)).toEqual([]);
});

it('refuses what would end with the program, and a directory of the caller', async () => {
  const options = { ...common, backend: 'sandbox', keepAlive: true } as const;
  for (const more of [{ automatic: true }, { also: ['home' as const] }, { size: { bytes: 1_000_000 } }])
    await expect(
      createRuntime({ ...options, workspace: { from, mode: 'overlay', ...more } }),
    ).rejects.toMatchObject({ code: 'capability-unsupported' });
  const direct = await createRuntime({ ...options, workspace: from });
  await expect(direct.checkpoint()).rejects.toMatchObject({ code: 'capability-unsupported' });
  await direct.detach();
  const again = await attach(direct, 'sandbox');
  await expect(again.checkpoint()).rejects.toMatchObject({ code: 'capability-unsupported' });
  await again.close();
});

it('removes what cells left that ended by themselves, after a month', async () => {
  const old = join(kept, 'ended');
  mkdirSync(old, { recursive: true, mode: 0o700 });
  const at = new Date(Date.now() - 31 * 86_400_000);
  utimesSync(old, at, at);
  const runtime = await start('sandbox');
  await runtime.checkpoint();
  await runtime.close();
  await expect.poll(() => readdirSync(kept)).toEqual([]);
});
