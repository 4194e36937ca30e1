/** Foreign backends in a configuration: who may name them, where we look for them, and which settings they bring. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readPlugins } from '../../src/assemble.js';
import { loadBackend } from '../../src/backends/index.js';
import { type LoadConfigOptions, loadConfig } from '../../src/config/load-config.js';
import { trust } from '../../src/config/trusted-files.js';
import { attachRuntime, createRuntime, listCells } from '../../src/index.js';
import { loadGuard } from '../../src/runtime/security/load-guard.js';
import { stranger } from '../base/as-user.js';
import { checkout } from '../house/source.js';

/** What loaded modules leave. */
const marks = globalThis as { loadedBackends?: string[] };

let home: string;
let own: string;
let project: string;
let env: Record<string, string>;

beforeEach(() => {
  marks.loadedBackends = [];
  home = realpathSync(mkdtempSync(join(tmpdir(), 'outside-backends-')));
  own = join(home, '.config/workcell');
  project = join(home, 'project');
  for (const folder of [own, project, join(home, 'node_modules')]) mkdirSync(folder, { recursive: true });
  symlinkSync(join(checkout, 'node_modules/zod'), join(home, 'node_modules/zod'));
  env = { HOME: home };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const stub = (type: string) => `
  import { z } from 'zod';
  (globalThis.loadedBackends ??= []).push(${JSON.stringify(type)});
  const colour = z.enum(['red', 'green']).optional();
  export default {
    type: ${JSON.stringify(type)},
    options: z.strictObject({ colour, roomSize: z.int().optional() }),
    place: z.strictObject({ colour }),
    probe: async () => ({ available: true, tier: 'none', summary: 'A stub.', advice: [] }),
    start: async (options) => { throw Object.assign(new Error(JSON.stringify(options))); },
  };`;

function write(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const install = (folder: string, name: string, source = stub('stub')) => {
  const directory = join(folder, 'node_modules', name);
  write(join(directory, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  return pathToFileURL(write(join(directory, 'index.js'), source)).href;
};

const load = (options: Partial<LoadConfigOptions> = {}) => loadConfig({ cwd: project, env, ...options });

const outsideOf = async (options?: Partial<LoadConfigOptions>) =>
  (await load(options)).outside.map(({ name }) => name);

describe('your own file', () => {
  test('names a file or a package from where it is, whose section is checked by its own schema', async () => {
    const file = pathToFileURL(write(join(own, 'stub.mjs'), stub('stub'))).href;
    const config = write(
      join(own, 'config.toml'),
      'backend = "./stub.mjs"\n[backends.stub]\nroom_size = 3\ncolour = "red"\n',
    );
    const { values, outside, backendOptions, sources } = await load();
    expect(values.backend).toBe(file);
    expect(outside.map(({ name }) => name)).toEqual([file]);
    expect(backendOptions).toEqual({ stub: { roomSize: 3, colour: 'red' } });
    expect(sources['backends.stub.room_size']).toBe(config);
    write(config, 'backend = "./stub.mjs"\n[backends.stub]\ncolour = "blue"\n');
    await expect(load()).rejects.toThrow('backends.stub.colour = "blue"');
    write(config, 'backend = "./stub.mjs"\n[backends.stub]\ncolor = "red"\n');
    await expect(load()).rejects.toThrow('Did you mean backends.stub.colour?');
    const address = install(own, '@me/cells');
    write(config, 'backend = "@me/cells"\n');
    expect((await load()).values.backend).toBe(address);
  });

  test('keeps its section while another backend is used, and then loads nothing without need', async () => {
    write(join(own, 'stub.mjs'), stub('stub'));
    write(join(own, 'config.toml'), 'backend = "./stub.mjs"\n');
    expect((await load({ overrides: { backend: 'cli' } })).values.backend).toBe('cli');
    expect(marks.loadedBackends).toEqual([]);
    write(join(own, 'config.toml'), 'backend = "./stub.mjs"\n[backends.stub]\ncolour = "red"\n');
    const { values, backendOptions } = await load({ overrides: { backend: 'cli' } });
    expect(values.backend).toBe('cli');
    expect(backendOptions).toEqual({ stub: { colour: 'red' } });
  });

  test('is refused when what it names is not there, or when nothing brings a section', async () => {
    write(join(own, 'config.toml'), 'backend = "./stub.mjs"\n');
    await expect(load()).rejects.toMatchObject({ code: 'invalid-config', message: /no such file/ });
    write(join(own, 'config.toml'), '[backends.stub]\ncolour = "red"\n');
    await expect(load()).rejects.toThrow(/section backends.stub .*Accepted: backends.cli/);
  });
});

describe('the file of a project', () => {
  test('loads no code: not before it is trusted, and not afterwards', async () => {
    write(join(project, 'stub.mjs'), stub('stub'));
    const text = 'backend = "./stub.mjs"\n[backends.stub]\ncolour = "red"\n';
    const file = write(join(project, 'workcell.toml'), text);
    await expect(load()).rejects.toThrow();
    await expect(load({ lenient: true })).rejects.toThrow('section backends.stub');
    write(file, 'backend = "./stub.mjs"\n');
    await expect(load()).rejects.toMatchObject({ code: 'config-untrusted' });
    trust(file, 'backend = "./stub.mjs"\n', env);
    await expect(load()).rejects.toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining('whose content is not part of what was trusted'),
    });
    const { values, outside, notHonoured } = await load({ lenient: true });
    expect(values.backend).toBeUndefined();
    expect(outside).toEqual([]);
    expect(notHonoured).toMatchObject([{ file, key: 'backend' }]);
    expect(marks.loadedBackends).toEqual([]);
  });

  test('may say, once it is trusted, what a backend that you named does', async () => {
    write(join(own, 'stub.mjs'), stub('stub'));
    write(join(own, 'config.toml'), 'backend = "./stub.mjs"\n');
    const text = '[backends.stub]\ncolour = "green"\n';
    const file = write(join(project, 'workcell.toml'), text);
    await expect(load()).rejects.toMatchObject({ code: 'config-untrusted' });
    trust(file, text, env);
    expect((await load()).backendOptions).toEqual({ stub: { colour: 'green' } });
  });
});

describe('other sources', () => {
  test('a variable names an absolute file, or a package beside your own file', async () => {
    const file = write(join(project, 'stub.mjs'), stub('stub'));
    const variables = { WORKCELL_BACKEND: file, WORKCELL_BACKENDS_STUB_ROOM_SIZE: '4' };
    const { values, backendOptions } = await load({ env: { ...env, ...variables } });
    expect(values.backend).toBe(pathToFileURL(file).href);
    expect(backendOptions).toEqual({ stub: { roomSize: 4 } });
    await expect(load({ env: { ...env, WORKCELL_BACKEND: './stub.mjs' } })).rejects.toThrow(
      'a variable holds in every directory',
    );
    install(project, 'cells-of-others');
    const named = { env: { ...env, WORKCELL_BACKEND: 'cells-of-others' } };
    await expect(load(named)).rejects.toThrow('There is no backend "cells-of-others"');
  });

  test('an option names a file from the working directory, and a package that you installed', async () => {
    const address = install(project, 'cells-of-others');
    const named = { overrides: { backend: 'cells-of-others' } };
    await expect(load(named)).rejects.toMatchObject({
      code: 'backend-unknown',
      message: expect.stringContaining('beside this one or in your configuration directory'),
    });
    vi.stubEnv('XDG_CONFIG_HOME', join(home, '.config'));
    const installed = install(own, 'cells-of-others');
    expect(await outsideOf(named)).toEqual([installed]);
    expect(await outsideOf({ overrides: { backend: './node_modules/cells-of-others/index.js' } })).toEqual([
      address,
    ]);
    expect(await outsideOf({ overrides: { backend: 'cli' } })).toEqual([]);
    expect(marks.loadedBackends).toEqual([]);
  });

  test('a package that has the mistyped name of a backend is not loaded', async () => {
    install(project, 'sandbx');
    await expect(load({ overrides: { backend: 'sandbx' } })).rejects.toMatchObject({
      code: 'backend-unknown',
      message: expect.stringContaining('Did you mean sandbox?'),
    });
    expect(marks.loadedBackends).toEqual([]);
  });
});

test('what is no backend, has the name of one of this package, or cannot be loaded is refused', async () => {
  const cases = {
    'export default { type: "stub" };': 'options: must be an object schema',
    [stub('cli')]: 'type: is that of a backend of this package',
    [stub('kubernetes')]: 'type: is that of a backend of this package',
    'throw new Error("not today");': 'not today',
  };
  for (const [index, [source, message]] of Object.entries(cases).entries()) {
    const address = pathToFileURL(write(join(home, `${index}.mjs`), source)).href;
    await expect(loadBackend(address)).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining(message),
    });
  }
  await expect(createRuntime({ backend: { type: 'x' } as never, config: false })).rejects.toThrow(
    'The option backend is not a backend',
  );
});

test('a module that another user can change is not loaded, whoever names it', async () => {
  const file = write(join(project, 'stub.mjs'), stub('stub'));
  const guard = write(join(project, 'guard.mjs'), stub('guard'));
  const ways = [
    (path: string) => chmodSync(path, 0o666),
    (path: string) => chownSync(path, stranger, stranger),
  ];
  for (const change of ways) {
    for (const path of [file, guard]) change(path);
    const variable = await load({ env: { ...env, WORKCELL_BACKEND: file } });
    await expect(variable.outside[0]?.load()).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringMatching(/can be written by other users|belongs to user/),
    });
    await expect(createRuntime({ backend: file as `/${string}`, config: false })).rejects.toThrow(file);
    await expect(loadGuard(guard, project)).rejects.toMatchObject({ code: 'invalid-config' });
    await expect(readPlugins({ plugins: [guard] }, variable)).rejects.toThrow(/other users|belongs to user/);
  }
  expect(marks.loadedBackends).toEqual([]);
});

test('one that cannot be loaded, or whose list fails, keeps nobody from the cells of the others', async () => {
  const throwing = 'list: () => { throw new Error("no list today"); }, attach: async () => {}, start:';
  const cases = {
    'boom.mjs': ['throw new Error("not today");', 'not today'],
    'list.mjs': [stub('listing').replace('start:', throwing), 'no list today'],
    'junk.mjs': [
      stub('junk').replace('start:', 'list: async () => "junk", attach: async () => {}, start:'),
      'a list of cells',
    ],
  } as const;
  for (const [name, [source, reason]] of Object.entries(cases)) {
    const file = write(join(home, name), source);
    const config = write(join(home, 'named.toml'), `backend = ${JSON.stringify(file)}\n`);
    const told: string[] = [];
    const onUnavailable = (_backend: string, why: string) => told.push(why);
    // Whatever else is on this machine may be there or not.
    await listCells({ config, onUnavailable });
    expect(told).toContainEqual(expect.stringContaining(reason));
    marks.loadedBackends = [];
    expect(await listCells({ config, backend: 'sandbox' })).toEqual(expect.any(Array));
    expect(marks.loadedBackends).toEqual([]);
    await expect(listCells({ config, backend: file as `/${string}` })).rejects.toThrow(reason);
  }
});

test('a reference to a cell of another backend than the named one loads nothing', async () => {
  const file = write(join(project, 'stub.mjs'), stub('stub'));
  const ref = { backend: pathToFileURL(file).href, place: {}, id: 'abc' };
  await expect(attachRuntime(ref, { backend: 'sandbox', config: false })).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('the option backend is "sandbox"'),
  });
  const { default: sandbox } = await import('../../src/backends/sandbox.js');
  const other = { ...sandbox, type: 'mine' };
  await expect(
    attachRuntime({ ...ref, backend: 'docker' }, { backend: other, config: false }),
  ).rejects.toThrow('the option backend is "mine"');
  await expect(attachRuntime(ref, { backend: other, config: false })).rejects.toMatchObject({
    code: 'cell-not-found',
  });
  expect(marks.loadedBackends).toEqual([]);
});

test('a backend that code brings takes its section, and wins over the one that is configured', async () => {
  const file = write(join(home, 'stub.mjs'), stub('brought'));
  const { default: brought } = await import(pathToFileURL(file).href);
  const config = write(join(home, 'named.toml'), 'backend = "cli"\n[backends.brought]\nroom_size = 7\n');
  await expect(createRuntime({ backend: brought, colour: 'red', config })).rejects.toThrow(
    '{"roomSize":7,"colour":"red"}',
  );
});
