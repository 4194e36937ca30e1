import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { backendNames, loadBackend } from '../../src/backends/index.js';
import { backendSettings, generalSettings } from '../../src/config/config-settings.js';
import { type LoadConfigOptions, loadConfig } from '../../src/config/load-config.js';
import { WorkcellError } from '../../src/protocol/index.js';

let directory: string;
let file: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-config-')));
  file = join(directory, 'workcell.toml');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function load(options: Partial<LoadConfigOptions> & { toml?: string } = {}) {
  const { toml, ...rest } = options;
  if (toml !== undefined) writeFileSync(file, toml);
  // A named file may set everything; trust.test.ts covers what a project's file may set.
  return loadConfig({ cwd: directory, env: {}, ...(toml !== undefined && { file }), ...rest });
}

async function failure(options: Parameters<typeof load>[0]): Promise<WorkcellError> {
  const error = await load(options).catch((thrown: unknown) => thrown);
  if (!WorkcellError.isInstance(error)) throw new Error(`Expected a WorkcellError, got ${String(error)}`);
  return error;
}

describe('sources', () => {
  test('the file of an event store starts where it is named, and a password in its address is not shown', async () => {
    const toml = '[events]\nstore = "sqlite:x/events.db"\n';
    expect((await load({ toml })).values.events.store).toBe(`sqlite:${join(directory, 'x/events.db')}`);
    rmSync(file);
    const store = 'postgres://me:se%2Fcret@db.example/work';
    const { shown, values } = await load({ env: { WORKCELL_EVENTS_STORE: store } });
    expect(values.events.store).toBe(store);
    expect(shown['events.store']).toBe('postgres://me:[hidden]@db.example/work');
  });

  test('without any source every value is a default', async () => {
    const { values, sources, files } = await load();
    expect(values).toEqual({
      sandbox: { runtime_startup_env_vars: {} },
      security: {},
      secrets: {},
      mcp: { servers: {} },
      tools: { entries: [] },
      network: {},
      events: { durability: 'process', retention_days: 30, max_bytes: 1024 ** 3 },
      openhands: { auto_lint: false },
      service: {
        replica_listen: '127.0.0.1:0',
        replica_lease: 10,
        templates: {},
        tenants: {},
        max_cells: 1000,
        max_cells_per_tenant: 200,
        max_requests_per_tenant: 1024,
        max_keys_per_tenant: 1000,
        max_checkpoints_per_tenant: 100,
        max_checkpoint_bytes_per_tenant: 32 * 1024 ** 3,
        requests_per_second_per_key: 2000,
        starts_at_once: 4,
      },
      log: { level: 'warn' },
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
    expect(files).toEqual([]);
  });

  test('file, environment and options rise in precedence, and each value remembers its source', async () => {
    const { values, sources } = await load({
      toml: 'backend = "cli"\n[sandbox]\ntimeout = 10\nno_change_timeout = 1.5\n[log]\nlevel = "info"\n',
      env: { WORKCELL_SANDBOX_TIMEOUT: '20', WORKCELL_LOG_LEVEL: 'error', HOME: '/root' },
      overrides: { 'log.level': 'debug', backend: undefined },
    });
    expect(values).toMatchObject({
      backend: 'cli',
      sandbox: { timeout: 20, no_change_timeout: 1.5 },
      log: { level: 'debug' },
    });
    expect(sources).toMatchObject({
      backend: file,
      'sandbox.timeout': 'WORKCELL_SANDBOX_TIMEOUT',
      'sandbox.no_change_timeout': file,
      'log.level': 'option',
      workspace: 'default',
    });
  });

  test('an empty variable counts as not set', async () => {
    const { values, sources } = await load({
      toml: 'backend = "cli"',
      env: { WORKCELL_BACKEND: '', WORKCELL_CONFIG: '' },
    });
    expect(values.backend).toBe('cli');
    expect(sources.backend).toBe(file);
  });

  test('a table comes from the environment as JSON', async () => {
    const { values } = await load({ env: { WORKCELL_SANDBOX_RUNTIME_STARTUP_ENV_VARS: '{"A":"1"}' } });
    expect(values.sandbox.runtime_startup_env_vars).toEqual({ A: '1' });
  });

  test('file false ignores file and environment', async () => {
    const { values } = await load({ toml: 'nonsense = true', env: { WORKCELL_NONSENSE: '1' }, file: false });
    expect(values.backend).toBeUndefined();
  });

  test('the mark that processes of a cell carry is no setting', async () => {
    await expect(load({ env: { WORKCELL_CELL: 'abc' } })).resolves.toBeDefined();
  });
});

describe('the file', () => {
  test('is found from a directory upwards, the nearest first', async () => {
    const inner = join(directory, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    writeFileSync(file, '[sandbox]\ntimeout = 1');
    expect((await load({ cwd: inner })).values.sandbox.timeout).toBe(1);
    writeFileSync(join(directory, 'a', 'workcell.toml'), '[sandbox]\ntimeout = 2');
    expect((await load({ cwd: inner })).values.sandbox.timeout).toBe(2);
  });

  test('is not looked for above the home directory', async () => {
    const home = join(directory, 'home');
    mkdirSync(join(home, 'project'), { recursive: true });
    writeFileSync(file, '');
    expect((await load({ cwd: join(home, 'project'), env: { HOME: home } })).files).toEqual([]);
    expect((await load({ cwd: directory, env: { HOME: home } })).files).toEqual([file]);
  });

  test('may be named by WORKCELL_CONFIG, and the option wins over that', async () => {
    writeFileSync(join(directory, 'one.toml'), '[sandbox]\ntimeout = 1');
    writeFileSync(join(directory, 'two.toml'), '[sandbox]\ntimeout = 2');
    const env = { WORKCELL_CONFIG: join(directory, 'one.toml') };
    expect((await load({ env })).values.sandbox.timeout).toBe(1);
    expect((await load({ env, file: 'two.toml' })).values.sandbox.timeout).toBe(2);
  });

  test('every path in it starts where it is written, and the demands may stand in [security]', async () => {
    const { values } = await load({
      toml: '[security]\nmin_facts = ["memory"]\npolicy_file = "p.toml"\naudit = { store = "sqlite:a.db" }\n[secrets.A]\nfile = "a"\n',
      cwd: '/',
    });
    expect(values).toMatchObject({
      min_facts: ['memory'],
      security: {
        policy_file: join(directory, 'p.toml'),
        audit: { store: `sqlite:${join(directory, 'a.db')}` },
      },
      secrets: { A: { file: join(directory, 'a') } },
    });
  });

  test('a relative workspace starts where it is written', async () => {
    const inner = join(directory, 'inner');
    mkdirSync(inner);
    expect((await load({ toml: 'workspace = "repo"', cwd: inner })).values.workspace).toBe(
      join(directory, 'repo'),
    );
    rmSync(file);
    expect((await load({ cwd: inner, env: { WORKCELL_WORKSPACE: 'repo' } })).values.workspace).toBe(
      join(inner, 'repo'),
    );
  });
});

describe('a backend section', () => {
  test('takes the options of that backend', async () => {
    const { backendOptions, sources } = await load({ toml: '[backends.cli]\nenv = { A_b = "1" }' });
    expect(backendOptions).toEqual({ cli: { env: { A_b: '1' } } });
    expect(sources['backends.cli.env']).toBe(file);
  });

  test('has variables too, with their names derived from it', async () => {
    const { backendOptions, sources } = await load({ env: { WORKCELL_BACKENDS_CLI_ENV: '{"A":"1"}' } });
    expect(backendOptions).toEqual({ cli: { env: { A: '1' } } });
    expect(sources['backends.cli.env']).toBe('WORKCELL_BACKENDS_CLI_ENV');
  });

  test.each(backendNames)('%s has no option that a general setting hides', async (name) => {
    const general = new Set(generalSettings.flatMap(({ key, variable }) => [key, variable]));
    const own = backendSettings(await loadBackend(name)).flatMap(({ key, variable }) => [key, variable]);
    expect(own.filter((word) => general.has(word))).toEqual([]);
  });
});

describe('bad configuration stops with invalid-config', () => {
  test.each<[string, Parameters<typeof load>[0], ...(string | RegExp)[]]>([
    ['unknown key', { toml: 'bakend = "cli"' }, 'bakend', 'Did you mean backend?', 'workcell.toml'],
    [
      'unknown key in a section',
      { toml: '[sandbox]\ntimeuot = 3' },
      'sandbox.timeuot',
      'Did you mean sandbox.timeout?',
    ],
    ['unknown section', { toml: '[sandbx]\ntimeout = 3' }, 'sandbx', 'Did you mean sandbox?'],
    ['section that is no table', { toml: 'sandbox = 3' }, 'sandbox', 'must be a table'],
    ['list of tables', { toml: '[[sandbox]]\ntimeout = 3' }, 'sandbox', 'must be a table'],
    ['wrong type', { toml: '[sandbox]\ntimeout = "3"' }, 'sandbox.timeout = "3"', 'workcell.toml', 'seconds'],
    ['out of range', { toml: '[sandbox]\ntimeout = -1' }, 'sandbox.timeout = -1', 'above 0'],
    [
      'unknown choice',
      { toml: 'min_isolation = "contaner"' },
      '"contaner"',
      'Did you mean container?',
      'gvisor',
    ],
    ['key of every object', { toml: 'constructor = 1' }, 'The key constructor (from', 'is not known'],
    ['method of every object', { toml: '[toString]\na = 1' }, 'The key toString (from', 'is not known'],
    ['prototype', { toml: '__proto__ = { a = 1 }' }, 'The key __proto__ (from', 'is not known'],
    [
      'backend of every object',
      { toml: '[backends.constructor]\na = 1' },
      'backends.constructor',
      'not known',
    ],
    ['unknown backend', { toml: 'backend = "clii"' }, '"clii"', 'Did you mean cli?'],
    ['invalid TOML', { toml: 'backend = \n' }, 'line 1, column 11', 'workcell.toml'],
    ['missing file', { file: 'nowhere.toml' }, 'nowhere.toml', 'does not exist'],
    [
      'missing file in WORKCELL_CONFIG',
      { env: { WORKCELL_CONFIG: '/nowhere/gone.toml' } },
      '/nowhere/gone.toml',
      'does not exist',
    ],
    ['relative file in a variable', { env: { WORKCELL_CONFIG: 'one.toml' } }, 'one.toml', 'absolute path'],
    [
      'relative store in a variable',
      { env: { WORKCELL_EVENTS_STORE: 'sqlite:events.db' } },
      'sqlite:events.db',
      'absolute path',
    ],
    [
      'unknown variable',
      { env: { WORKCELL_BACKEDN: 'cli' } },
      'WORKCELL_BACKEDN',
      'Did you mean WORKCELL_BACKEND?',
    ],
    [
      'number in a variable',
      { env: { WORKCELL_SANDBOX_TIMEOUT: 'soon' } },
      '"soon"',
      '(from WORKCELL_SANDBOX_TIMEOUT)',
    ],
    [
      'unknown backend option',
      { toml: '[backends.cli]\nenvv = {}' },
      'backends.cli.envv',
      'Did you mean backends.cli.env?',
    ],
    [
      'bad backend option',
      { toml: '[backends.cli]\nenv = { "a b" = "1" }' },
      'backends.cli.env',
      'a b: Invalid key',
    ],
    [
      'general setting in a backend section',
      { toml: '[backends.cli]\nworkspace = "."' },
      'backends.cli.workspace',
      'is not known',
    ],
    [
      'unknown key of a table',
      { toml: '[security.llm]\nbase_url = "https://a.example"\nmodle = "m"' },
      'modle: is not known. Did you mean model? Accepted: base_url, model, api_key',
    ],
    [
      'unknown key of a rule',
      { toml: '[[security.rules]]\ndecision = "deny"\ncomand = "git *"' },
      'rules',
      '0.comand: is not known. Did you mean command?',
    ],
    [
      'unknown key of a secret',
      { toml: '[secrets.A]\nenvv = "A"' },
      'A.envv: is not known. Did you mean env?',
    ],
    [
      'unknown key of an MCP server',
      { toml: '[mcp.servers.docs]\nurl = "https://a.example"\nheader = { a = "b" }' },
      'docs.header: is not known. Did you mean headers? Accepted: type, url, headers',
    ],
    ['two sources of a secret', { toml: '[secrets.A]\nenv = "A"\nfile = "b"' }, 'exactly one of env, file'],
    ['unknown section of the trusted side', { toml: '[secrity]\nmode = "never"' }, 'Did you mean security?'],
    [
      'the same twice',
      { toml: 'min_isolation = "vm"\n[security]\nmin_isolation = "none"' },
      'min_isolation is set twice',
    ],
    [
      'secret in a variable',
      { env: { WORKCELL_SECRETS: '{"A":{"value":"hunter2"}}' } },
      'secrets.A.value',
      'is a secret that others can read there',
    ],
    [
      'relative file in a variable',
      { env: { WORKCELL_SECRETS: '{"A":{"file":"a"}}' } },
      'secrets',
      'absolute path',
    ],
    ['unknown override', { overrides: { 'log.levl': 'info' } }, 'log.levl', '(from option)', 'log.level'],
  ])('%s', async (_name, options, ...expected) => {
    const error = await failure(options);
    expect(error.code).toBe('invalid-config');
    expect(error.exitCode).toBe(78);
    for (const part of expected) expect(error.message).toMatch(part);
  });

  test('a backend that an option names wrongly is backend-unknown', async () => {
    expect((await failure({ overrides: { backend: 'nope' } })).code).toBe('backend-unknown');
  });

  test('a bad value is refused even where another source would win over it', async () => {
    const error = await failure({ toml: '[sandbox]\ntimeout = 0', env: { WORKCELL_SANDBOX_TIMEOUT: '3' } });
    expect(error.message).toContain('sandbox.timeout = 0');
  });

  test('a secret stands only in a file that nobody else can read', async () => {
    const toml =
      '[secrets.A]\nvalue = "hunter2"\n[security.llm]\nbase_url = "https://a.example"\nmodel = "m"\n';
    const error = await failure({ toml });
    expect(error.message).toContain(`secrets.A.value (from ${file}) is a secret that others can read there`);
    expect(error.message).toContain(`chmod 600 ${file}`);
    const key = await failure({
      toml: `${toml.slice(toml.indexOf('[security'))}api_key = { value = "hunter2" }\n`,
    });
    expect(key.message).toContain('security.llm.api_key.value');
    writeFileSync(file, toml);
    chmodSync(file, 0o600);
    const { values, shown } = await load({ file });
    expect(values.secrets.A?.value).toBe('hunter2');
    expect(JSON.stringify([error, key, shown])).not.toContain('hunter2');
  });

  test('what is shown tells where secrets come from, and none of them', async () => {
    const { shown } = await load({
      toml: `
[secrets.GITHUB_TOKEN]
command = ["pass", "show", "github"]
reach = "env"
[security.llm]
base_url = "https://me:hunter2@a.example/v1?key=hunter2"
model = "m"
api_key = { env = "MODEL_KEY" }
[mcp.servers.docs]
url = "https://a.example/mcp?token=hunter2"
headers = { authorization = "hunter2" }
[mcp.servers.local]
command = "serve"
args = ["--api-key", "hunter2", "--token=hunter2", "plain"]
env = { A = "hunter2" }
`,
    });
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(shown).toMatchObject({
      secrets: { GITHUB_TOKEN: { command: ['pass', 'show', 'github'], reach: 'env' } },
      'security.llm': { api_key: { env: 'MODEL_KEY' } },
      'mcp.servers': { docs: { headers: { authorization: '[hidden]' } }, local: { args: { 3: 'plain' } } },
    });
  });

  test('values of variables are never printed', async () => {
    const env = { WORKCELL_SANDBOX_RUNTIME_STARTUP_ENV_VARS: '{"TOKEN":["hunter2"]}' };
    const nested = JSON.stringify(await failure({ env }));
    const text = JSON.stringify(
      await failure({ env: { WORKCELL_SANDBOX_RUNTIME_STARTUP_ENV_VARS: 'hunter2' } }),
    );
    const { shown } = await load({ toml: '[sandbox.runtime_startup_env_vars]\nTOKEN = "hunter2"' });
    expect(`${nested}${text}${JSON.stringify(shown)}`).not.toContain('hunter2');
    expect(shown['sandbox.runtime_startup_env_vars']).toEqual({ TOKEN: '[hidden]' });
  });
});
