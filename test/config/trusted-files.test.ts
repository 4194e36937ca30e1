/** Whose word counts: what a file may say by how it was come upon, and who may have written it. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generalSettings } from '../../src/config/config-settings.js';
import { type LoadConfigOptions, loadConfig } from '../../src/config/load-config.js';
import { narrowingKeys } from '../../src/config/narrowing.js';
import { listTrusted, trust, trustOf, untrust } from '../../src/config/trusted-files.js';
import { WorkcellError } from '../../src/protocol/index.js';
import { runAsStranger, stranger } from '../base/as-user.js';

let home: string;
let project: string;
let file: string;
let env: Record<string, string>;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-home-')));
  project = join(home, 'project');
  file = join(project, 'workcell.toml');
  mkdirSync(project);
  env = { HOME: home };
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function load(options: Partial<LoadConfigOptions> = {}) {
  return loadConfig({ cwd: project, env, ...options });
}

async function refusal(options: Partial<LoadConfigOptions> = {}): Promise<WorkcellError> {
  const error = await load(options).catch((thrown: unknown) => thrown);
  if (!WorkcellError.isInstance(error)) throw new Error(`Expected a WorkcellError, got ${String(error)}`);
  return error;
}

function writeOwn(toml: string): string {
  const path = join(home, '.config/workcell/config.toml');
  mkdirSync(join(home, '.config/workcell'), { recursive: true });
  writeFileSync(path, toml);
  return path;
}

/** A value for every setting there is. */
const samples: Record<string, string> = {
  backend: '"cli"',
  workspace: '"/"',
  min_isolation: '"vm"',
  min_facts: '["network"]',
  plugins: '["./evil.mjs"]',
  'sandbox.timeout': '1',
  'sandbox.no_change_timeout': '1',
  'sandbox.runtime_startup_env_vars': '{ BASH_ENV = "evil" }',
  'events.store': '"sqlite:evil.db"',
  'events.durability': '"machine"',
  'events.retention_days': '0.001',
  'events.max_bytes': '1048576',
  'log.level': '"silent"',
  'network.allow': '["evil.test"]',
  'network.deny': '["good.test"]',
  'network.within': '["evil.test"]',
  'network.preset': '["npm"]',
  'network.ask': 'true',
  'network.unenforced': 'true',
  'network.presets': '{ evil = ["evil.test"] }',
  'network.requests': '[{ host = "evil.test" }]',
  'network.hosts': '{ "good.test" = "192.0.2.1" }',
  'network.limits': '{ connections = 16 }',
  'security.guards': '["rules"]',
  'security.rule_files': '["evil.toml"]',
  'security.rules': '[{ decision = "deny", command = "git push *" }]',
  'security.on_risk': '{ high = "allow" }',
  'security.mode': '"never"',
  'security.outside_workspace': '"deny"',
  'security.policy_file': '"policy.toml"',
  'security.confirm': '"store"',
  'security.confirm_timeout': '1',
  'security.analyzer_timeout': '1',
  'security.llm': '{ base_url = "https://evil.example/v1", model = "m" }',
  'security.audit': '{ file = "audit.jsonl" }',
  secrets: '{ EVIL = { command = ["cat", "/etc/shadow"] } }',
  'mcp.servers': '{ evil = { command = "evil" } }',
  'tools.entries': '["./evil.mjs"]',
  'network.mode': '"none"',
  'openhands.llm_editor': '{ base_url = "https://evil.example/v1", model = "m" }',
  'openhands.auto_lint': 'true',
  'service.url': '"https://evil.test"',
  'service.preview_listen': '"0.0.0.0:80"',
  'service.preview_url': '"https://evil.test"',
  'service.store': '"sqlite:evil.db"',
  'service.replica_listen': '"0.0.0.0:80"',
  'service.replica_lease': '60',
  'service.replica_host': '"evil.test"',
  'service.templates': '{ evil = { backend = "cli" } }',
  'service.tenants': '{ evil = { max_cells = 1000 } }',
  'service.webhooks': '{ url = "https://evil.test", secret_file = "/etc/shadow" }',
  'service.max_cells': '1',
  'service.max_cells_per_tenant': '1',
  'service.max_requests_per_tenant': '1',
  'service.max_keys_per_tenant': '1',
  'service.max_checkpoints_per_tenant': '1',
  'service.max_checkpoint_bytes_per_tenant': '1',
  'service.requests_per_second_per_key': '1',
  'service.starts_at_once': '1',
};

/** Values of keys that narrow only by saying something else. */
const wider: [string, string][] = [
  ['security.guards', '["rules", "./evil.mjs"]'],
  ['security.guards', '["llm"]'],
  ['security.guards', '[]'],
  ['security.rules', '[{ decision = "deny" }, { decision = "allow", command = "rm *" }]'],
  ['security.rules', '[{ decision = "confirm" }]'],
  ['security.outside_workspace', '"confirm"'],
  ['network.mode', '"open"'],
];

describe('a file that is found by searching', () => {
  test.each(generalSettings.map(({ key }) => key))('may set %s only if that narrows', async (key) => {
    writeFileSync(file, `${key} = ${samples[key]}\n`);
    if (narrowingKeys.includes(key)) {
      expect((await load()).sources[key]).toBe(file);
      return;
    }
    const { code, message, exitCode } = await refusal();
    expect({ code, exitCode }).toEqual({ code: 'config-untrusted', exitCode: 78 });
    expect(message).toContain(`${file} sets ${key}, and nobody has trusted the file`);
    expect(message).toContain(`workcell trust ${project}`);
  });

  test('may not bring more refusals than every action can be compared with', async () => {
    const refusals = [
      '{ decision = "deny" },'.repeat(501),
      `{ decision = "deny", command = [${'"x",'.repeat(500)}] }`,
    ];
    for (const value of refusals) {
      writeFileSync(file, `security.rules = [${value}]\n`);
      expect((await refusal()).message).toContain(`${file} sets security.rules, and nobody has trusted`);
    }
  });

  test.each(wider)('may not set %s = %s, which narrows nothing', async (key, value) => {
    writeFileSync(file, `${key} = ${value}\n`);
    expect((await refusal()).message).toContain(`${file} sets ${key}, and nobody has trusted the file`);
  });

  test('adds guards and refusals to those of the user, and closes the network', async () => {
    const own = writeOwn(
      '[security]\nguards = ["./mine.mjs"]\nrules = [{ decision = "allow", command = "git *" }]\n[network]\nmode = "open"\n',
    );
    writeFileSync(
      file,
      '[security]\nguards = ["rules"]\nrules = [{ decision = "deny", command = "git push*" }]\n[network]\nmode = "none"\n',
    );
    const { values, sources } = await load();
    expect(values).toMatchObject({
      security: {
        guards: ['./mine.mjs', 'rules'],
        rules: [{ decision: 'deny' }, { decision: 'allow' }],
      },
      network: { mode: 'none' },
    });
    // Look for the user's guard where the user named it.
    expect(sources['security.guards']).toBe(own);
  });

  test.each(['cli', 'sandbox', 'docker', 'remote'])('may say nothing about backend %s', async (backend) => {
    writeFileSync(
      file,
      `[backends.${backend}]\n${{ remote: 'url = "http://evil"' }[backend] ?? 'env = { A = "1" }'}\n`,
    );
    expect((await refusal()).code).toBe('config-untrusted');
  });

  test('narrows what the user has set, and widens none of it', async () => {
    const own = writeOwn('min_isolation = "container"\n[sandbox]\ntimeout = 60\nno_change_timeout = 60\n');
    writeFileSync(file, 'min_isolation = "vm"\n[sandbox]\ntimeout = 30\nno_change_timeout = 90\n');
    const strict = await load();
    expect(strict.values).toMatchObject({
      min_isolation: 'vm',
      sandbox: { timeout: 30, no_change_timeout: 60 },
    });
    expect(strict.sources).toMatchObject({ min_isolation: file, 'sandbox.no_change_timeout': own });
    expect(strict.notHonoured).toEqual([
      { file, key: 'sandbox.no_change_timeout', reason: `${own} is as strict already` },
    ]);
    writeFileSync(file, 'min_isolation = "none"\n');
    expect((await load()).values.min_isolation).toBe('container');
    writeOwn('min_facts = ["network"]\n');
    writeFileSync(file, 'min_facts = ["memory"]\n');
    expect((await load()).values.min_facts).toEqual(['network', 'memory']);
  });

  test('is below variables and options, which the user gives', async () => {
    writeFileSync(file, 'min_isolation = "vm"\n[sandbox]\ntimeout = 30\n');
    const { values } = await load({
      env: { ...env, WORKCELL_SANDBOX_TIMEOUT: '300' },
      overrides: { min_isolation: 'none' },
    });
    expect(values).toMatchObject({ min_isolation: 'none', sandbox: { timeout: 300 } });
  });

  test('is shown with what does not count, where settings are only looked at', async () => {
    writeFileSync(file, 'backend = "cli"\nmin_isolation = "vm"\n');
    const { values, notHonoured } = await load({ lenient: true });
    expect(values).toMatchObject({ min_isolation: 'vm' });
    expect(values.backend).toBeUndefined();
    expect(notHonoured).toEqual([
      { file, key: 'backend', reason: 'nobody has trusted the file', widens: true },
    ]);
  });

  test('does not count where a file is named, or none is wanted', async () => {
    writeFileSync(file, 'backend = "cli"\n');
    writeFileSync(join(home, 'other.toml'), '');
    expect((await load({ file: '../other.toml' })).values.backend).toBeUndefined();
    expect((await load({ file: false })).values.backend).toBeUndefined();
  });
});

describe('a file that the user has trusted', () => {
  const say = (text: string) => {
    writeFileSync(file, text);
    trust(file, text, env);
  };

  test('counts wholly, above that of the user, until it changes', async () => {
    writeOwn('backend = "docker"\n[sandbox]\ntimeout = 60\n');
    say('backend = "cli"\n[sandbox]\ntimeout = 90\n');
    expect((await load()).values).toMatchObject({ backend: 'cli', sandbox: { timeout: 90 } });
    writeFileSync(file, 'backend = "cli"\nplugins = ["./evil.mjs"]\n');
    expect((await refusal()).message).toMatch(/sets backend, plugins, and the file has changed since it was/);
    say('backend = "cli"\n');
    expect(untrust(file, env)).toBe(true);
    expect((await refusal()).message).toContain('nobody has trusted the file');
    expect(untrust(file, env)).toBe(false);
  });

  test('is trusted in its place alone', async () => {
    say('backend = "cli"\n');
    mkdirSync(join(project, 'inner'));
    writeFileSync(join(project, 'inner/workcell.toml'), 'backend = "cli"\n');
    expect((await refusal({ cwd: join(project, 'inner') })).code).toBe('config-untrusted');
  });

  test('is recorded where only this user can read, outside of the project', () => {
    say('');
    const records = join(home, '.local/state/workcell/trusted');
    expect(lstatSync(records).mode & 0o777).toBe(0o700);
    const [name = ''] = readdirSync(records);
    expect(lstatSync(join(records, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(project)).toEqual(['workcell.toml']);
    expect(listTrusted(env)).toMatchObject([{ path: file, state: 'trusted' }]);
    writeFileSync(file, '#');
    expect(listTrusted(env)).toMatchObject([{ state: 'changed' }]);
    rmSync(file);
    expect(listTrusted(env)).toMatchObject([{ state: 'gone' }]);
    for (const [damage, index] of ['', '{"path":', '{"path":7}'].map((text, at) => [text, at] as const))
      writeFileSync(join(records, String(index).repeat(64)), damage, { mode: 0o600 });
    expect(listTrusted(env)).toMatchObject([{ path: file, state: 'gone' }]);
  });

  test('a record that another user may have written is none', () => {
    say('');
    const records = join(home, '.local/state/workcell/trusted');
    const [name = ''] = readdirSync(records);
    expect(trustOf(file, '', env)).toBe('trusted');
    chownSync(join(records, name), stranger, stranger);
    expect(trustOf(file, '', env)).toBe('unknown');
  });

  test('says nothing of a directory that was exchanged for a link meanwhile', async () => {
    mkdirSync(join(project, 'work/deep'), { recursive: true });
    say('workspace = "work/deep"\n[events]\nstore = "sqlite:work/events.db"\n');
    expect((await load()).values.workspace).toBe(join(project, 'work/deep'));
    rmSync(join(project, 'work'), { recursive: true });
    symlinkSync('/', join(project, 'work'));
    expect(await refusal()).toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining(`leads through the link ${join(project, 'work')}`),
    });
  });

  test('names no kubeconfig, whose programs would run on this machine; an own file does', async () => {
    const toml = '[backends.kubernetes]\nkubeconfig = "kube.yaml"\n';
    say(toml);
    expect(await refusal()).toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining('backends.kubernetes.kubeconfig'),
    });
    say('');
    writeOwn(toml);
    expect((await load()).backendOptions.kubernetes).toEqual({
      kubeconfig: join(home, '.config/workcell/kube.yaml'),
    });
  });

  test.each([
    ['sandbox', 'read_only'],
    ['sandbox', 'read_write'],
    ['sandbox', 'rootfs'],
    ['docker', 'volumes'],
  ])('says nothing of a link in %s, %s', async (backend, key) => {
    const place = join(project, 'data');
    const value = { rootfs: `"${place}"`, volumes: `["${place}:/data:ro"]` }[key] ?? `["${place}"]`;
    mkdirSync(place);
    say(`[backends.${backend}]\n${key} = ${value}\n`);
    expect((await load()).backendOptions[backend]).toBeDefined();
    rmSync(place, { recursive: true });
    symlinkSync('/', place);
    expect(await refusal()).toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining(`leads through the link ${place}`),
    });
  });
});

describe('a file of others', () => {
  const narrow = '[sandbox]\ntimeout = 5\n';

  test('in a directory of this user is refused, with whose it is', async () => {
    writeFileSync(file, narrow);
    chownSync(file, stranger, stranger);
    expect(await refusal()).toMatchObject({
      code: 'config-untrusted',
      message: expect.stringMatching(/belongs to user 65534.*--no-config/),
    });
    const { notHonoured, files } = await load({ lenient: true });
    expect(files).toEqual([]);
    expect(notHonoured).toMatchObject([{ file, key: undefined }]);
  });

  test.each([0o666, 0o664])('that others may write is refused, mode %o', async (mode) => {
    writeFileSync(file, narrow);
    chownSync(file, 0, stranger);
    chmodSync(file, mode);
    expect((await refusal()).message).toContain('can be written by other users');
  });

  test('is refused below a directory that others own or may write', async () => {
    writeFileSync(file, narrow);
    chmodSync(project, 0o777);
    expect((await refusal()).message).toContain(`${project} can be written by other users`);
    chmodSync(project, 0o755);
    expect((await load()).values.sandbox.timeout).toBe(5);
    chownSync(project, stranger, stranger);
    expect((await refusal()).message).toContain(`${project} belongs to user 65534`);
  });

  test('that is named, or is in place of the user’s own, is refused too', async () => {
    const own = writeOwn('backend = "cli"\n');
    expect((await load()).values.backend).toBe('cli');
    chownSync(own, stranger, stranger);
    expect((await refusal()).message).toContain(`${own} is refused`);
    expect((await refusal({ file: own })).message).toContain(`${own} is refused`);
    expect((await refusal({ env: { ...env, WORKCELL_CONFIG: own } })).message).toContain(`${own} is refused`);
  });

  test('in a shared directory above is passed by and told, and stops nobody', async () => {
    const shared = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-sticky-')));
    try {
      chmodSync(shared, 0o1777);
      const cwd = join(shared, 'mine');
      mkdirSync(cwd);
      const planted = join(shared, 'workcell.toml');
      runAsStranger('import sys; open(sys.argv[1], "w").write("backend = \\"cli\\"")', planted);
      const { values, notHonoured } = await load({ cwd });
      expect(values.backend).toBeUndefined();
      expect(notHonoured).toEqual([
        { file: planted, key: undefined, reason: 'belongs to user 65534, who is neither you nor root' },
      ]);
      rmSync(planted);
      runAsStranger('import os, sys; os.symlink(*sys.argv[1:])', writeOwn(narrow), planted);
      expect((await load({ cwd, env: { HOME: '/nowhere' } })).values.sandbox.timeout).toBeUndefined();
      rmSync(planted);
      writeFileSync(planted, narrow);
      expect((await load({ cwd })).values.sandbox.timeout).toBe(5);
    } finally {
      rmSync(shared, { recursive: true });
    }
  });

  test('a link is not followed where a file is searched for', async () => {
    const own = join(home, 'secret.toml');
    writeFileSync(own, narrow);
    symlinkSync(own, file);
    expect((await refusal()).message).toContain(`${file} is a symbolic link`);
  });
});

test('a home that is no absolute path is not taken for a directory of the project', async () => {
  mkdirSync(join(project, '.config/workcell'), { recursive: true });
  writeFileSync(join(project, '.config/workcell/config.toml'), 'backend = "cli"\n');
  const before = process.cwd();
  process.chdir(project);
  try {
    for (const odd of [{ HOME: '.' }, { HOME: home, XDG_CONFIG_HOME: '.config' }, { HOME: '' }])
      expect((await load({ env: odd })).values.backend).toBeUndefined();
  } finally {
    process.chdir(before);
  }
  expect(existsSync(join(project, '.local'))).toBe(false);
});
