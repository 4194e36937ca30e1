/** The settings of the trusted side mean what the options in code mean: the same policy, secrets, tools and servers. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Backend } from '../../src/backends/backend.js';
import { loadBackend } from '../../src/backends/index.js';
import { createRuntime, type Runtime, WorkcellError } from '../../src/index.js';

const hostile = fileURLToPath(new URL('../cell/plugins/mcp/hostile-server.mjs', import.meta.url));
const checkout = fileURLToPath(new URL('../..', import.meta.url));

let directory: string;
let runtime: Runtime;
let model: Server;
const asked: { authorization: string | undefined; body: string }[] = [];

const secrets = { FROM_ENV: 'ghp_environment', FROM_FILE: 'file-secret-1', FROM_COMMAND: 'command-secret-1' };

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** A file of settings for a sandbox, with further ones. */
const settings = (name: string, toml: string) =>
  file(name, `backend = "sandbox"\n${toml}\n[backends.sandbox]\nread_only = ["${checkout}"]\n`);

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-trusted-')));
  model = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push({ authorization: request.headers.authorization, body });
    const score = { score: body.includes('forbidden-word') ? 3 : 1, reason: 'because' };
    const call = { function: { name: 'function_risk', arguments: JSON.stringify(score) } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { tool_calls: [call] } }] }));
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  mkdirSync(join(directory, 'kit'));
  file('token', `${secrets.FROM_FILE}\n`);
  file('rules.toml', '[[rules]]\nprograms = "deployctl"\nhigh = "Changes what customers see."\n');
  file('policy.toml', '[[rules]]\ndecision = "deny"\ncommand = "touch from-file*"\n');
  file(
    'late.mjs',
    "export default { name: 'late', analyze: ({ command }) => ({ risk: command === 'true late' ? 'high' : 'low', reasons: [] }) };",
  );
  file(
    'kit/double.mjs',
    "import { tool } from 'workcell';\nexport const double = tool({ name: 'double', description: 'Doubles.', parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }, execute: ({ n }) => n * 2 });",
  );
  vi.stubEnv('MY_VARIABLE', secrets.FROM_ENV);
  vi.stubEnv('MODEL_KEY', 'model-key-1');
  const config = settings(
    'all.toml',
    `
[security]
guards = ["rules", "llm", "./late.mjs"]
rule_files = ["rules.toml"]
policy_file = "policy.toml"
outside_workspace = "deny"
rules = [{ decision = "deny", command = "git push *", reason = "Pushing is for people." }]
[security.llm]
base_url = "http://127.0.0.1:${(model.address() as AddressInfo).port}/v1"
model = "judge"
api_key = { env = "MODEL_KEY" }
[security.audit]
file = "audit.jsonl"
[secrets.FROM_ENV]
env = "MY_VARIABLE"
reach = "env"
[secrets.FROM_FILE]
file = "token"
[secrets.FROM_COMMAND]
command = ["printf", "%s\\\\n", "${secrets.FROM_COMMAND}"]
[mcp.servers.one]
command = "node"
args = ["${hostile}", "stays"]
[tools]
entries = ["./kit/double.mjs"]
[network]
mode = "none"
`,
  );
  runtime = await createRuntime({
    config,
    policy: { rules: [{ decision: 'deny', command: 'touch code*' }] },
  });
});

afterAll(async () => {
  await runtime?.close();
  model.closeAllConnections();
  model.close();
  rmSync(directory, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

test.each([
  ['a rule of the settings', 'git push origin'],
  ['a rule of the policy file', 'touch from-file'],
  ['a rule in code', 'touch code'],
  ['the rules by name', 'rm -rf /'],
  ['a rule file of your own', 'deployctl rollout'],
  ['the model', 'echo forbidden-word'],
  ['a guard from a file', 'true late'],
])('%s refuses', async (_who, command) => {
  await expect(runtime.run(command)).rejects.toMatchObject({ code: 'denied' });
  expect((await runtime.run('echo allowed')).output).toBe('allowed\n');
});

test('paths outside of the workspace are refused, and the model gets its key', async () => {
  await expect(runtime.read('/etc/hostname')).rejects.toMatchObject({ code: 'denied' });
  expect(asked.every(({ authorization }) => authorization === 'Bearer model-key-1')).toBe(true);
  expect(asked.length).toBeGreaterThan(0);
});

test('secrets come from a variable, a file and a command, reach whom they may, and are hidden', async () => {
  const { output } = await runtime.run('printf %s "$FROM_ENV" | wc -c; echo "$FROM_ENV"');
  expect(output).toMatch(new RegExp(`^${secrets.FROM_ENV.length}\\n(?!${secrets.FROM_ENV}).+\\n$`));
  await runtime.write('known.txt', Object.values(secrets).join('\n'));
  const { content } = await runtime.read('known.txt');
  for (const value of Object.values(secrets)) expect(content).not.toContain(value);
});

test('MCP servers are connected when MCP is used, unjudged and on record, and tools are registered', async () => {
  const result = await runtime.mcp.call('act');
  expect(result).toMatchObject({ server: 'one', isError: false });
  expect(await firstOf('connect_mcp')).toMatchObject({ source: 'user' });
  expect(runtime.getTools().map(({ name }) => name)).toEqual(['double']);
  await expect(runtime.callTool('double', { n: 21 })).resolves.toMatchObject({ result: 42 });
});

async function firstOf(name: string) {
  for await (const event of runtime.events.since(0))
    if (event.kind === 'action' && event.action.action === name) return event;
  return undefined;
}

test('what cannot be had stops the start, and tells no secret', async () => {
  const start = (toml: string, more: object = {}) =>
    createRuntime({ config: settings('bad.toml', toml), ...more });
  await expect(start('[secrets.A]\nenv = "NOT_SET_HERE"')).rejects.toThrow(
    'secrets.A comes from the variable NOT_SET_HERE, which is not set here',
  );
  await expect(start('[secrets.A]\nfile = "nowhere"')).rejects.toThrow('secrets.A cannot be read');
  await expect(start('[secrets.A]\ncommand = ["./here"]')).rejects.toThrow('which is not found');
  const failed = start('[secrets.A]\ncommand = ["sh", "-c", "echo hunter2; echo hunter2 >&2; exit 3"]');
  await expect(failed).rejects.toThrow('secrets.A comes from the command sh, which failed (3)');
  expect(JSON.stringify(await failed.catch((error: unknown) => error))).not.toContain('hunter2');
  await expect(start('[security]\nguards = ["llm"]')).rejects.toThrow('there is no model');
  await expect(start('[security]\nguards = ["rulse"]')).rejects.toThrow('The guard "rulse" cannot be loaded');
  await expect(start('[network]\nmode = "none"', { backend: 'cli' })).rejects.toMatchObject({
    code: 'isolation-too-weak',
  });
});

test('a variable that holds a secret is not inherited by commands of this machine', async () => {
  const config = file('cli.toml', 'backend = "cli"\n[secrets.A]\nenv = "MY_VARIABLE"\n');
  await using here = await createRuntime({ config });
  expect((await here.run('echo "[$MY_VARIABLE]"')).output).toBe('[]\n');
  expect(process.env.MY_VARIABLE).toBe(secrets.FROM_ENV);
});

test('an open network is not that of the machine, in code as in the settings', async () => {
  const ruled = { enforced: true, values: { kind: 'rules' } };
  await using open = await createRuntime({ config: settings('open.toml', '[network]\nmode = "open"') });
  expect(open.isolation.facts.find(({ code }) => code === 'network')).toMatchObject(ruled);
  await using closed = await createRuntime({
    config: settings('closed.toml', '[network]\nmode = "none"'),
    backend: 'sandbox',
    network: 'open',
  });
  expect(closed.isolation.facts.find(({ code }) => code === 'network')).toMatchObject(ruled);
  await using host = await createRuntime({ config: false, backend: 'sandbox', network: 'host' });
  expect(host.isolation.facts.find(({ code }) => code === 'network')).toMatchObject({ enforced: false });
});

test('the network of the settings reaches docker, which may name one of its own when it is open', async () => {
  const docker = await loadBackend('docker');
  const networkOf = async (toml: string, options: object = {}) => {
    let network: unknown;
    const start = async (given: object) => {
      network = docker.options.parse(given).network;
      throw new WorkcellError('backend-unavailable', 'The options are all that the test wants.');
    };
    const backend = { ...docker, type: 'docker-like', start } as unknown as Backend;
    const created = createRuntime({ config: file('docker.toml', toml), backend, ...options });
    await expect(created).rejects.toThrow('all that the test wants');
    return network;
  };
  const named = '[backends.docker-like]\nnetwork = "bridge"\n';
  expect(await networkOf('')).toBe('none');
  expect(await networkOf('[network]\nmode = "open"\n')).toBe('open');
  expect(await networkOf(`[network]\nmode = "open"\n${named}`)).toBe('bridge');
  expect(await networkOf(`[network]\nmode = "none"\n${named}`)).toBe('none');
  expect(await networkOf('[network]\nmode = "none"\n', { network: 'bridge' })).toBe('bridge');
});
