/** What package managers fetched stays for a workspace, and for nobody else. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { cacheNames } from '../../src/backends/sandbox/cache-places.js';
import { type CreateRuntimeOptions, createRuntime } from '../../src/index.js';

const scratch = mkdtempSync(join(tmpdir(), 'sandbox-caches-'));
const before = process.env.XDG_CACHE_HOME;
const kept = join(scratch, 'cache/workcell');
let workspace: string;

beforeAll(() => {
  process.env.XDG_CACHE_HOME = join(scratch, 'cache');
});
beforeEach(() => {
  workspace = mkdtempSync(join(scratch, 'workspace-'));
});
afterAll(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
  rmSync(scratch, { recursive: true, force: true });
});

type Options = Omit<Extract<CreateRuntimeOptions, { backend: 'sandbox' }>, 'backend'>;

/** What a command prints in a cell of its own. */
async function inCell(command: string, options: Options = {}): Promise<string> {
  await using runtime = await createRuntime({
    backend: 'sandbox',
    workspace,
    caches: ['npm', 'pip'],
    ...options,
  });
  return (await runtime.run(command)).output.trim();
}

const leave = 'mkdir -p ~/.npm ~/.cache/pip; echo left > ~/.npm/here; cp ~/.npm/here ~/.cache/pip';
const look = 'cat ~/.npm/here ~/.cache/pip/here 2>/dev/null | xargs';

test('the next cell with the workspace finds it, where the package managers look', async () => {
  await inCell(leave);
  expect(await inCell(look)).toBe('left left');
  expect(await inCell(look, { caches: ['pip'] })).toBe('left');
  expect(await inCell(look, { keeper: true })).toBe('left left');
  const places = 'npm config get cache; python3 -m pip cache dir 2>/dev/null || echo ~/.cache/pip';
  expect((await inCell(places)).split(/\s+/)).toEqual(['/home/agent/.npm', '/home/agent/.cache/pip']);
});

test('no other cell finds it: without the option, with another workspace, with an overlay or a copy', async () => {
  await inCell(leave);
  expect(await inCell(look, { caches: [] })).toBe('');
  expect(await inCell(look, { workspace: mkdtempSync(join(scratch, 'other-')) })).toBe('');
  for (const mode of ['overlay', 'copy'] as const) {
    expect(await inCell(look, { workspace: { from: workspace, mode } })).toBe('');
    await inCell(`${leave}; echo changed > ~/.npm/here`, { workspace: { from: workspace, mode } });
  }
  expect(await inCell(look)).toBe('left left');
});

test('a cell without a workspace cannot have any', async () => {
  const started = createRuntime({ backend: 'sandbox', caches: ['npm'] });
  await expect(started).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('Name a workspace'),
  });
});

test('every cache is a directory of its own that the cell cannot replace, and nobody else can enter', async () => {
  const hostile =
    'chmod 777 ~/.npm; mv ~/.npm ~/away 2>/dev/null && echo moved; ln -s /etc ~/.npm/link; ls -A ~/.npm/..; ls -A /home';
  const seen = await inCell(hostile, { caches: cacheNames });
  expect(seen).not.toContain('moved');
  expect(seen).not.toContain('executor-');
  const [own = ''] = readdirSync(kept).filter((name) => name.startsWith('caches-'));
  expect(statSync(join(kept, own)).mode & 0o777).toBe(0o700);
  expect(await inCell('ls ~/.npm', { caches: ['npm'] })).toBe('link');
  await using runtime = await createRuntime({ backend: 'sandbox', workspace, caches: ['npm'] });
  const files = runtime.isolation.facts.find(({ code }) => code === 'files');
  expect(files?.values).toMatchObject({ writable: ['/home/agent/.npm'] });
});

test('what nobody used for a month goes, and a link in its place is left alone', async () => {
  const other = mkdtempSync(join(scratch, 'other-'));
  await inCell(leave, { workspace: other });
  const names = () => readdirSync(kept).filter((name) => name.startsWith('caches-'));
  const all = names();
  const long = new Date(Date.now() - 40 * 24 * 60 * 60 * 1000);
  for (const name of all) utimesSync(join(kept, name), long, long);
  const precious = join(scratch, 'precious');
  mkdirSync(join(precious, 'kept'), { recursive: true });
  symlinkSync(precious, join(kept, 'caches-link'));
  await inCell('true');
  expect(names().filter((name) => all.includes(name) && name !== 'caches-link')).toEqual([]);
  expect(readdirSync(precious)).toEqual(['kept']);
});
