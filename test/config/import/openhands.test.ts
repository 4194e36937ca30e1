/** A configuration of OpenHands with every key that it has, and what becomes of each. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Imported, importOpenHands } from '../../../src/config/import/openhands.js';
import {
  agentKeys,
  coreKeys,
  kubernetesKeys,
  sandboxKeys,
  securityKeys,
} from '../../../src/config/import/openhands-keys.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { workcell } from '../../cli/workcell.js';

const file = fileURLToPath(new URL('openhands.toml', import.meta.url));
const full = parse(readFileSync(file, 'utf8'));
const here = {
  backends: ['cli', 'docker', 'local', 'remote', 'sandbox'],
  plugins: ['browser', 'jupyter', 'mcp', 'tools', 'vscode'],
};

let imported: Imported;
beforeAll(async () => {
  imported = await importOpenHands(full, here);
});
const reasonOf = (key: string) => imported.notes.find((note) => note.key === key)?.reason;

test('the sample has every key that is known, and no other', () => {
  const sections = {
    core: coreKeys,
    sandbox: sandboxKeys,
    kubernetes: kubernetesKeys,
    security: securityKeys,
  };
  for (const [name, keys] of Object.entries(sections))
    expect(Object.keys(full[name] as object).sort()).toEqual(Object.keys(keys).sort());
  const agent = Object.keys(full.agent as object).filter((key) => key !== 'RepoExplorerAgent');
  expect(agent.sort()).toEqual(Object.keys(agentKeys).sort());
});

test('what has a setting becomes it', () => {
  expect(imported.settings).toEqual({
    backend: 'docker',
    workspace: '/srv/work',
    plugins: ['mcp', 'tools', 'vscode'],
    events: { store: 'sqlite:/var/lib/openhands/workcell.db' },
    log: { level: 'debug' },
    sandbox: {
      timeout: 120,
      runtime_startup_env_vars: {
        CI: 'true',
        GIT_AUTHOR_NAME: 'openhands',
        GIT_COMMITTER_NAME: 'openhands',
        GIT_AUTHOR_EMAIL: 'openhands@all-hands.dev',
        GIT_COMMITTER_EMAIL: 'openhands@all-hands.dev',
      },
    },
    security: { confirm: 'terminal', guards: ['rules'] },
    openhands: { auto_lint: true },
    secrets: {
      NPM_TOKEN: { env: 'NPM_TOKEN', reach: 'env' },
      FILES_API_KEY: { env: 'FILES_API_KEY' },
      MCP_SSE_1_API_KEY: { env: 'MCP_SSE_1_API_KEY', reach: 'env' },
      MCP_HTTP_0_API_KEY: { env: 'MCP_HTTP_0_API_KEY', reach: 'env' },
    },
    mcp: {
      servers: {
        'sse-0': { type: 'sse', url: 'https://sse.example/sse' },
        'sse-1': {
          type: 'sse',
          url: 'https://key.example/sse',
          headers: { authorization: 'Bearer ${MCP_SSE_1_API_KEY}' },
        },
        'http-0': {
          type: 'http',
          url: 'https://http.example/mcp',
          headers: { authorization: 'Bearer ${MCP_HTTP_0_API_KEY}' },
        },
        files: {
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-filesystem', '/workspace'],
          env: { LOG: '1', FILES_API_KEY: '${FILES_API_KEY}' },
        },
      },
    },
    backends: {
      docker: {
        image: 'ghcr.io/example/runtime:1',
        platform: 'linux/amd64',
        keep_alive: true,
        gpu: ['0', '1'],
        network: 'bridge',
        networks: ['backend'],
        volumes: ['/data:/data:ro', 'cache:/cache'],
        limits: { memory_bytes: 4 * 1024 ** 3, cpus: 2, pids: 512 },
        oci_runtime: 'runsc',
      },
      remote: { url: 'http://runtimes.example:8700' },
    },
  });
});

/** Keys whose value in the sample the import takes over, or that is the behaviour anyway. */
const taken = new Set([
  ...['ingress_domain', 'privileged'].map((key) => `kubernetes.${key}`),
  ...['runtime', 'enable_browser', 'run_as_openhands', 'workspace_base', 'workspace_mount_path', 'debug'].map(
    (key) => `core.${key}`,
  ),
  ...['git_user_name', 'git_user_email', 'file_store', 'file_store_path'].map((key) => `core.${key}`),
  ...[
    'timeout',
    'runtime_startup_env_vars',
    'base_container_image',
    'runtime_container_image',
    'platform',
  ].map((key) => `sandbox.${key}`),
  ...['keep_runtime_alive', 'enable_gpu', 'cuda_visible_devices', 'use_host_network', 'volumes'].map(
    (key) => `sandbox.${key}`,
  ),
  'sandbox.additional_networks',
  'sandbox.enable_auto_lint',
  'security.confirmation_mode',
  ...Object.keys(agentKeys)
    .filter((key) => !['enable_editor', 'enable_llm_editor', 'disabled_microagents'].includes(key))
    .map((key) => `agent.${key}`),
]);

describe('every other key is told of, with a reason', () => {
  const keys = Object.entries(full)
    .filter(([section]) => section !== 'mcp')
    .flatMap(([section, table]) => Object.keys(table as object).map((key) => `${section}.${key}`));

  test.each(keys)('%s', (key) => {
    expect(reasonOf(key) === undefined).toBe(taken.has(key));
  });

  test('in words that say what to do', () => {
    expect(reasonOf('sandbox.docker_runtime_kwargs')).toBe('there is no option for shm_size');
    expect(reasonOf('agent.enable_llm_editor')).toContain('[openhands.llm_editor]');
    expect(reasonOf('sandbox.runtime_extra_deps')).toContain('workcell images build --extra-deps');
    expect(reasonOf('security.security_analyzer')).toContain('the rules judge in its place');
    expect(reasonOf('mcp.shttp_servers.0.timeout')).toContain('each call has its own time limit');
    expect(reasonOf('mcp.shttp_servers.0.api_key')).toContain('set the variable MCP_HTTP_0_API_KEY');
  });
});

test('no secret is copied, neither into settings nor into notes', () => {
  expect(readFileSync(file, 'utf8')).toContain('hunter2');
  expect(JSON.stringify(imported)).not.toContain('hunter2');
});

test('what may be a secret is not copied, wherever it stands, and what is none is', async () => {
  const args = [
    ...[
      '-y',
      '@example/server-files@1.2.3',
      '--root',
      '/workspace',
      '--level=debug',
      '--url',
      'https://a.example/mcp',
    ],
    ...['--token', 'hunter2', '--api-key=hunter2', 'GITHUB_PAT=hunter2', 'Authorization: Bearer hunter2'],
    ...['ghp_hunter2hunter2hunter2', 'postgres://u:hunter2@h/db', '--db=postgres://u:hunter2@h/db'],
    'https://a.example/mcp?key=hunter2',
  ];
  const env = {
    ...{ GITHUB_PAT: 'hunter2', OPENAI_APIKEY: 'hunter2', PGPASS: 'hunter2', PGPASSWORD: 'hunter2' },
    ...{
      DATABASE_URL: 'postgres://u:hunter2@h/db',
      WEBHOOK: 'https://h.example/?t=hunter2',
      PHRASE: 'the hunter2',
    },
    ...{ ENDPOINT: 'https://hunter2@h.example/', OPAQUE: 'hunter2hunter2' },
  };
  const plain = {
    CI: 'true',
    RETRIES: '3',
    LANG: 'en_US.UTF-8',
    HOMEPAGE: 'https://a.example/b',
    DATA: '/srv/data',
  };
  const { settings, notes } = await importOpenHands(
    {
      mcp: {
        stdio_servers: [{ name: 'one', command: 'npx', args, env: { ...env, ...plain } }],
        sse_servers: ['https://u:hunter2@a.example/sse', 'https://a.example/v1/sse'],
        shttp_servers: [
          { url: 'https://a.example/mcp?api_key=hunter2' },
          { url: 'https://a.example/s/hunter2hunter2x/mcp' },
        ],
      },
      sandbox: { runtime_startup_env_vars: { ...env, ...plain } },
    },
    here,
  );
  expect(JSON.stringify({ settings, notes })).not.toContain('hunter2');
  const referred = Object.fromEntries(Object.keys(env).map((name) => [name, `\${${name}}`]));
  expect(settings.sandbox).toEqual({ runtime_startup_env_vars: plain });
  expect(Object.keys(settings.secrets as object).sort()).toEqual(Object.keys(env).sort());
  expect(settings.mcp).toMatchObject({
    servers: {
      one: { env: { ...referred, ...plain } },
      'sse-0': { url: 'https://a.example/sse' },
      'sse-1': { url: 'https://a.example/v1/sse' },
      'http-0': { url: 'https://a.example/mcp' },
      'http-1': { url: 'https://a.example/' },
    },
  });
  const words = (settings.mcp as { servers: { one: { args: string[] } } }).servers.one.args;
  expect(words.slice(0, 8)).toEqual(args.slice(0, 8));
  expect(words).toHaveLength(args.length);
  const told = notes.map(({ key }) => key);
  for (const key of [
    'stdio_servers.0.args.8',
    'sse_servers.0.url',
    'shttp_servers.0.url',
    'shttp_servers.1.url',
  ])
    expect(told).toContain(`mcp.${key}`);
});

test.each([
  ['http://localhost', undefined, undefined],
  ['https://runtimes.example', { remote: { url: 'https://runtimes.example' } }, 'set backend = "remote"'],
  ['https://u:hunter2@runtimes.example', undefined, 'it may hold a secret'],
])(
  'the address of runtimes on another machine becomes that of the backend remote: %s',
  async (url, backends, told) => {
    const { settings, notes } = await importOpenHands(
      { core: { runtime: 'local' }, sandbox: { local_runtime_url: url } },
      here,
    );
    expect(settings.backends).toEqual(backends);
    const [note] = notes;
    if (told === undefined) expect(note).toBeUndefined();
    else expect(note?.reason).toContain(told);
  },
);

test('paths start where the user stands', async () => {
  const { settings } = await importOpenHands(
    {
      core: { file_store_path: 'store/' },
      sandbox: { volumes: './data:/workspace,../more:/more,cache:/cache' },
    },
    here,
  );
  expect(settings).toMatchObject({
    workspace: resolve('data'),
    events: { store: `sqlite:${resolve('store')}/workcell.db` },
    backends: { docker: { volumes: [`${resolve('../more')}:/more`, 'cache:/cache'] } },
  });
  const based = await importOpenHands({ core: { workspace_base: './work' } }, here);
  expect(based.settings.workspace).toBe(resolve('work'));
});

test('names of the file reach no prototype', async () => {
  const variables = parse(
    '[sandbox.runtime_startup_env_vars]\n"__proto__.api_key" = "x"\n"constructor.prototype.token" = "x"\n[toString]\na = 1\n',
  );
  // The names are none that a variable can have.
  await expect(importOpenHands(variables, here)).rejects.toMatchObject({ code: 'invalid-config' });
  expect(({} as Record<string, unknown>).api_key).toBeUndefined();
  expect(({} as Record<string, unknown>).token).toBeUndefined();
  const { notes } = await importOpenHands(parse('[toString]\na = 1\n[__proto__]\nb = 1\n'), here);
  expect(notes.map(({ key, reason }) => [key, reason]).slice(0, 2)).toEqual([
    ['toString.a', 'OpenHands has no such section'],
    ['__proto__.b', 'OpenHands has no such section'],
  ]);
});

test.each(['before', 'after'])(
  'a program gets no secret, also of commands that are set %s it',
  async (when) => {
    const mcp = { stdio_servers: [{ name: 'evil', command: 'evil', env: { AWS_SECRET_KEY: 'x' } }] };
    const sandbox = { runtime_startup_env_vars: { AWS_SECRET_KEY: 'x', NPM_TOKEN: 'x' } };
    const content = when === 'before' ? { sandbox, mcp } : { mcp, sandbox };
    const { settings, notes } = await importOpenHands(content, here);
    expect(settings.secrets).toEqual({
      AWS_SECRET_KEY: { env: 'AWS_SECRET_KEY' },
      NPM_TOKEN: { env: 'NPM_TOKEN', reach: 'env' },
    });
    const note = notes.find(({ key }) => key === 'mcp.stdio_servers.0.env.AWS_SECRET_KEY');
    expect(note?.reason).toContain(
      'add reach = "env" to [secrets.AWS_SECRET_KEY] if the program may have it',
    );
  },
);

test.each([
  ['remote', undefined, 'there is no backend for the remote-runtime API'],
  ['kubernetes', undefined, 'there is no backend "kubernetes" here'],
  ['local', 'local', undefined],
])('runtime = "%s" becomes backend %s', async (runtime, backend, reason) => {
  const { settings, notes } = await importOpenHands({ core: { runtime } }, here);
  expect(settings.backend).toBe(backend);
  const found = notes.find(({ key }) => key === 'core.runtime')?.reason;
  if (reason === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(reason);
});

test('the cluster of runtime = "kubernetes" becomes options of that backend', async () => {
  const { settings, notes } = await importOpenHands(
    {
      core: { runtime: 'kubernetes' },
      kubernetes: {
        namespace: 'agents',
        ingress_domain: 'cells.example',
        ingress_tls_secret: 'cells-tls',
        pvc_storage_size: '5Gi',
        pvc_storage_class: 'fast',
        resource_cpu_request: '500m',
        resource_memory_request: '1Gi',
        resource_memory_limit: '2G',
        image_pull_secret: 'registry',
        node_selector_key: 'disk.example/kind',
        node_selector_val: 'ssd',
        tolerations_yaml: '- key: agents\n  operator: Exists\n  toleration_seconds: 30\n',
        privileged: true,
      },
    },
    { ...here, backends: [...here.backends, 'kubernetes'] },
  );
  expect(settings.backend).toBe('kubernetes');
  expect(settings.backends).toEqual({
    kubernetes: {
      namespace: 'agents',
      ingress: { domain: 'cells.example', tls_secret: 'cells-tls' },
      volume: { size: '5Gi', storage_class: 'fast' },
      requests: { cpus: 0.5, memory_bytes: 1024 ** 3 },
      limits: { memory_bytes: 2_000_000_000 },
      image_pull_secrets: ['registry'],
      node_selector: { 'disk.example/kind': 'ssd' },
      tolerations: [{ key: 'agents', operator: 'Exists', tolerationSeconds: 30 }],
    },
  });
  expect(notes.map(({ key }) => key)).toContain('kubernetes.privileged');
});

test('confirmation without an analyzer asks about everything, and unknown keys are told of', async () => {
  const { settings, notes } = await importOpenHands(
    { security: { confirmation_mode: true }, sandbox: { tiemout: 3 }, nonsense: { a: 1 } },
    here,
  );
  expect(settings.security).toEqual({ confirm: 'terminal', mode: 'always' });
  expect(notes.map(({ key }) => key)).toEqual(['sandbox.tiemout', 'nonsense.a', 'sandbox']);
});

test('the command writes a file that is accepted, and says the rest on standard error', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-import-'));
  try {
    const output = join(directory, 'config.toml');
    const { stdout, stderr, exitCode } = await workcell(['config', 'import', file, '--output', output]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(stderr).toContain(
      'workcell: sandbox.close_delay: only a service ends idle cells, after the idle time of their template\n',
    );
    expect(`${stderr}${readFileSync(output, 'utf8')}`).not.toContain('hunter2');
    expect(statSync(output).mode & 0o777).toBe(0o600);
    const again = await workcell(['config', 'import', file, '--output', output]);
    expect(again).toMatchObject({ exitCode: 78, stderr: expect.stringContaining('Name a new file') });
    const { values, backendOptions } = await loadConfig({ cwd: directory, env: {}, file: output });
    expect(values).toMatchObject({ backend: 'docker', security: { guards: ['rules'] } });
    expect(backendOptions.docker).toMatchObject({ image: 'ghcr.io/example/runtime:1', keepAlive: true });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
