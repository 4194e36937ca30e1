/** Life and death of docker cells: which end when, what remains, and what comes back. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { socketInside } from '../../src/backends/docker/container.js';
import { drainPools, fillPools } from '../../src/backends/docker/container-pool.js';
import docker from '../../src/backends/docker.js';
import { createRuntime } from '../../src/index.js';
import { type Cell, isEnforced } from '../../src/protocol/index.js';
import { startRulesSchema } from '../../src/protocol/network/network-schema.js';
import { begin, eventually, refusal } from '../../src/testing/contract/given.js';
import { dockerEngine, images, type OwnDockerEngine, startDockerEngine } from '../engines/docker.js';

const run = promisify(execFile);
const { host: engine, networkPid } = await dockerEngine();
const client = clientOf(engine);
/** Others use the engine at the same time. */
const labels = { 'workcell.test': randomBytes(8).toString('hex') };
const cell = { backend: 'docker', config: false, engine, image: images.tools, labels } as const;

afterEach(async () => {
  await drainPools();
  await eventually(async () => (await containerIds(client)).length === 0, 'no container is left');
  const { Volumes } = await client.listVolumes();
  expect(Volumes.map(({ Name }) => Name)).toEqual([]);
});

describe('a container that dies', () => {
  test('fails what is under way, and leaves nothing', async () => {
    const statuses: string[] = [];
    const runtime = await createRuntime({ ...cell, onStatus: ({ status }) => statuses.push(status) });
    await begin(runtime, 'echo begun; sleep 1000', /begun/);
    const refused = refusal(runtime.run('', { noChangeTimeoutMs: 60_000 }), 'runtime-disconnected');
    await client.getContainer((await containerIds(client))[0] ?? '').kill();
    expect((await refused).message).toContain('killed');
    await eventually(() => statuses.includes('ERROR_RUNTIME_DISCONNECTED'));
    await runtime.close();
  });

  test('because of its memory says so', async () => {
    await using runtime = await createRuntime({ ...cell, limits: { memoryBytes: 134_217_728 } });
    const { endedBy } = await runtime.run('python3 -c "x = bytearray(10**9); print(len(x))"');
    const process = await runtime.processes.start(['python3', '-c', 'x = bytearray(10**9)']);
    expect((await runtime.processes.wait(process.id)).endedBy).toBe('oom');
    expect(['oom', 'exit']).toContain(endedBy);
    expect((await runtime.run('echo alive')).output).toBe('alive\n');
  });

  test('goes with the process that started it', async () => {
    const { child } = await startOwner({ keepAlive: false });
    expect(await containerIds(client)).toHaveLength(1);
    child.kill('SIGKILL');
    await eventually(async () => (await containerIds(client)).length === 0, 'the container is gone');
  });

  test('with network rules has no way out when that process is killed, and leaves nothing', async () => {
    const hosts: string[] = [];
    const server = createServer((request, response) => {
      hosts.push(request.headers.host ?? '');
      response.end('from outside');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get =
      "exec 3<>/dev/tcp/web.test/80 && printf 'GET / HTTP/1.0\\r\\nHost: web.test\\r\\n\\r\\n' >&3 && cat <&3";
    const { child } = await startOwner({
      keepAlive: false,
      network: startRulesSchema.parse({ allow: ['web.test'], hosts: { 'web.test': place } }),
      // It goes on asking, so that what could get out after the end of its owner would.
      command: `while :; do (${get}) > answer; cat answer >> answers; done & until grep -q outside answers; do :; done`,
    });
    expect(hosts[0]).toBe('web.test');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const asked = hosts.length;
    await eventually(async () => (await containerIds(client)).length === 0, 'the container is gone');
    // The gateway was in that process: nothing that came after its end has reached the server.
    await new Promise((resolve) => setImmediate(resolve));
    expect(hosts.length - asked).toBeLessThanOrEqual(1);
  });

  test('leaves nothing when its start is cancelled', async () => {
    const stop = new AbortController();
    const starting = createRuntime({ ...cell, signal: stop.signal });
    await eventually(async () => (await containerIds(client)).length === 1);
    stop.abort();
    await refusal(starting, 'cancelled');
  });
});

describe('a cell that is kept alive', () => {
  test('outlives who started it, is found again by id, and ends when closed', async () => {
    const { child, id } = await startOwner({ keepAlive: true });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await withEngine(engine, async () => {
      expect(await docker.list?.({})).toContainEqual(expect.objectContaining({ id, status: 'running' }));
      const found = await attach(id);
      expect(found.isolation.tier).toBe('container');
      expect(await output(found, 'cat note')).toBe('from before\n');
      // Looking does not need the lease, which is taken now.
      expect(await docker.stats?.(id, {}, {})).toMatchObject({ processes: expect.any(Number) });
      await found.stop();
      await found.stop();
      expect((await docker.list?.({}))?.map((cell) => cell.id)).not.toContain(id);
      await refusal(attach(id), 'cell-not-found');
    });
  });

  test('halts and goes on with the command that ran', async () => {
    const id = randomBytes(8).toString('hex');
    const { backend: _backend, config: _config, ...options } = cell;
    const started = await docker.start(options, { id, onStatus() {} });
    const slow = output(started, 'for n in 1 2 3; do echo $n; sleep 0.2; done');
    await started.pause?.();
    const [container = ''] = await containerIds(client);
    expect((await client.getContainer(container).inspect()).State.Paused).toBe(true);
    await started.resume?.();
    expect(await slow).toBe('1\n2\n3\n');
    await started.pause?.();
    await started.stop();
  });
});

describe('an engine that dies', () => {
  let own: OwnDockerEngine;
  beforeAll(async () => {
    own = await startDockerEngine();
  });
  afterAll(() => own.stop());

  test('fails what is under way; a kept cell comes back with the engine, another does not', async () => {
    const statuses: string[] = [];
    const runtime = await createRuntime({
      ...cell,
      engine: own.host,
      onStatus: ({ status, message }) => statuses.push(`${status} ${message}`),
    });
    const id = randomBytes(8).toString('hex');
    const options = { engine: own.host, image: images.tools, labels, keepAlive: true };
    const kept = await docker.start(options, { id, onStatus() {} });
    await output(kept, 'echo from before > note');
    await begin(runtime, 'echo begun; sleep 1000', /begun/);
    const refused = refusal(runtime.run('', { noChangeTimeoutMs: 60_000 }), 'runtime-disconnected');
    await own.kill();
    expect((await refused).message).toContain('Docker Engine');
    await runtime.close();
    await own.restart();
    await kept.detach?.();
    await withEngine(own.host, async () => {
      const found = await attach(id);
      expect(await output(found, 'cat note')).toBe('from before\n');
      await found.stop();
    });
    await eventually(async () => (await existing(clientOf(own.host))).length === 0, 'nothing is left');
  });
});

describe('what of this machine a cell sees', () => {
  test('volumes: writable, read-only, written over, and by name', async () => {
    const host = mkdtempSync(join(tmpdir(), 'docker-volumes-'));
    chownSync(host, 1000, 1000);
    writeFileSync(join(host, 'file'), 'host\n');
    const name = `test-${randomBytes(4).toString('hex')}`;
    const runtime = await createRuntime({
      ...cell,
      volumes: [`${host}:/rw`, `${host}:/ro:ro`, `${host}:/over:overlay`, `${name}:/named`],
    });
    try {
      const script =
        'echo made > /rw/made; echo no > /ro/no; echo over > /over/over; cat /over/file /over/over; touch /named/mine; stat -c %u /named/mine; chown 0 /named/mine';
      const { output: seen } = await runtime.run(script);
      expect(seen).toContain('Read-only file system');
      expect(seen).toMatch(/host\nover\n1000\n.*Operation not permitted/);
      expect(readdirSync(host).sort()).toEqual(['file', 'made']);
      expect(statSync(join(host, 'made')).uid).toBe(1000);
    } finally {
      await runtime.close();
      await client.getVolume(name).remove();
      rmSync(host, { recursive: true });
    }
  });

  test('a workspace: commands run as its owner, and what they make belongs to him', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'docker-workspace-'));
    chownSync(workspace, 4321, 4321);
    const runtime = await createRuntime({ ...cell, workspace });
    await runtime.write('written', 'x');
    expect((await runtime.run('id -u; touch made')).output).toBe('4321\n');
    await runtime.close();
    for (const name of ['written', 'made']) expect(statSync(join(workspace, name)).uid).toBe(4321);
    rmSync(workspace, { recursive: true });
  });

  test('a workspace of root: commands can neither reach nor replace nor end the executor', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'docker-workspace-'));
    const runtime = await createRuntime({ ...cell, workspace });
    const { output: found } = await runtime.run(
      `pid=$(pgrep -f settings.json | tail -n 1); grep '^Uid' /proc/$pid/status
       ls /run/workcell && echo reached; rm ${socketInside} && echo reached; kill -KILL $pid && echo reached
       cat /proc/$pid/environ && echo reached; echo >/proc/$pid/mem && echo reached; ls /proc/$pid/cwd/ && echo reached`,
    );
    await runtime.write('written', 'x');
    const { output: after } = await runtime.run('echo still there; cat written');
    await runtime.close();
    // Its real and saved user are of no command, its effective one is the owner of the files.
    expect(found).toMatch(/^Uid:\t65533\t0\t65533\t/);
    expect(found).not.toContain('reached');
    expect(after).toBe('still there\nx');
    expect(statSync(join(workspace, 'written')).uid).toBe(process.getuid?.());
    rmSync(workspace, { recursive: true });
  });

  test('a workspace of root: commands are root without capabilities', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'docker-workspace-'));
    const runtime = await createRuntime({ ...cell, workspace });
    const { output: seen } = await runtime.run(
      'id -u; touch made; chown 1000 made; grep CapBnd /proc/self/status',
    );
    expect(seen).toMatch(/^0\n.*not permitted\nCapBnd:\s*0+\n$/);
    expect(runtime.isolation.facts).toContainEqual(
      expect.objectContaining({ code: 'executor', enforced: true }),
    );
    await runtime.close();
    expect(statSync(join(workspace, 'made')).uid).toBe(process.getuid?.());
    rmSync(workspace, { recursive: true });
  });

  test('not the way to its own executor', async () => {
    await using runtime = await createRuntime(cell);
    const { output: seen } = await runtime.run(
      'ls /run/workcell; cat /proc/1/environ; kill -9 1; kill -9 $PPID; ls /var/run/docker.sock; touch /etc/x; id',
    );
    expect(seen).not.toContain('WORKCELL_CELL');
    expect(seen.match(/Permission denied|not permitted|No such file|Read-only/g)).toHaveLength(6);
    expect(seen).toMatch(/uid=1\d{9}/);
  });

  test('a user of its own, unless files are shared', async () => {
    await using runtime = await createRuntime({ ...cell, minIsolation: { facts: ['user', 'inotify'] } });
    await using other = await createRuntime(cell);
    const users = await Promise.all([runtime, other].map(async (one) => (await one.run('id -u')).output));
    expect(new Set(users).size).toBe(2);
    await using named = await createRuntime({ ...cell, user: '1000' });
    expect(isEnforced(named.isolation, 'user')).toBe(false);
  });

  test('further networks', async () => {
    const network = await client.createNetwork({ Name: `test-${randomBytes(4).toString('hex')}` });
    try {
      const { Name: name } = await network.inspect();
      await using runtime = await createRuntime({ ...cell, network: 'bridge', networks: [name] });
      expect((await runtime.run("cut -d: -f1 -s /proc/net/dev | tr -d ' ' | sort")).output).toBe(
        'eth0\neth1\nlo\n',
      );
      const error = await refusal(createRuntime({ ...cell, networks: [name] }), 'invalid-config');
      expect(error.message).toContain(name);
    } finally {
      await network.remove();
    }
  });

  test('published ports, on loopback; one that is taken is refused', async () => {
    await using runtime = await createRuntime({ ...cell, network: 'bridge', ports: [{ container: 8000 }] });
    await runtime.processes.start(['python3', '-m', 'http.server', '8000']);
    const [container = ''] = await containerIds(client);
    const { NetworkSettings } = await client.getContainer(container).inspect();
    const [published] = NetworkSettings.Ports['8000/tcp'] ?? [];
    expect(published?.HostIp).toBe('127.0.0.1');
    expect(runtime.ports.published).toEqual([{ container: 8000, host: Number(published?.HostPort) }]);
    const address = `http://127.0.0.1:${published?.HostPort}/`;
    const fetched = async () =>
      run('nsenter', [`--net=/proc/${networkPid}/ns/net`, 'curl', '-sS', address]).then(
        ({ stdout }) => stdout.includes('Directory listing'),
        () => false,
      );
    await eventually(fetched, 'the port answers');
    const taken = {
      ...cell,
      network: 'bridge',
      ports: [{ container: 8000, host: Number(published?.HostPort) }],
    };
    await refusal(createRuntime(taken), 'port-taken');
  });

  test('application ports: of a range one that no other cell has, under the same number inside and outside', async () => {
    const apps = { ...cell, network: 'bridge', appPorts: ['50000-50001', '55000-59999'] };
    await using first = await createRuntime(apps);
    await using second = await createRuntime(apps);
    const seen = [];
    for (const runtime of [first, second]) {
      const [one = 0, two = 0] = (await runtime.run('echo $APP_PORT_1 $APP_PORT_2')).output
        .split(' ')
        .map(Number);
      const published = runtime.ports.published.toSorted((a, b) => a.host - b.host);
      expect(published).toEqual([one, two].map((port) => ({ container: port, host: port })));
      seen.push(one);
    }
    expect(seen.toSorted()).toEqual([50_000, 50_001]);
    const error = await refusal(createRuntime(apps), 'port-taken');
    expect(error.message).toContain('50000-50001');
    for (const network of ['none', 'host'])
      await refusal(createRuntime({ ...cell, network, appPorts: ['50000-50001'] }), 'invalid-config');
  });
});

test('a pool hands out cells that wait, each of them once', async () => {
  const pooled = { ...cell, pool: { size: 1 } };
  const first = await createRuntime(pooled);
  await fillPools();
  const waiting = await containerIds(client);
  expect(waiting).toHaveLength(2);
  const second = await createRuntime(pooled);
  await second.write('note', 'x');
  expect(first.id).not.toBe(second.id);
  expect(await first.files.exists('note')).toBe(false);
  await Promise.all([first.close(), second.close()]);
  await refusal(createRuntime({ ...pooled, name: 'one' }), 'invalid-config');
});

test('a container has the name and the labels asked for', async () => {
  const name = `named-${randomBytes(4).toString('hex')}`;
  await using _runtime = await createRuntime({ ...cell, name, labels: { ...labels, team: 'a' } });
  const { Config } = await client.getContainer(name).inspect();
  expect(Config.Labels.team).toBe('a');
  await refusal(createRuntime({ ...cell, name }), 'already-exists');
});

/** Another process that starts a cell, says so, and waits. */
async function startOwner(options: {
  keepAlive: boolean;
  network?: object;
  command?: string;
}): Promise<{ child: ChildProcess; id: string }> {
  const id = randomBytes(8).toString('hex');
  const { command = 'echo from before > note', ...others } = options;
  const given = { engine, image: images.tools, labels, ...others };
  const program = `
    import docker from './src/backends/docker.ts';
    const cell = await docker.start(${JSON.stringify(given)}, { id: ${JSON.stringify(id)}, onStatus() {} });
    await cell.executor.execute({ action: 'run', command: ${JSON.stringify(command)}, maxOutputBytes: 4096 });
    console.log('started');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return { child, id };
}

async function attach(id: string): Promise<Cell> {
  const found = await docker.attach?.(id, {}, { id, onStatus() {} });
  if (found === undefined) throw new Error('attach is missing');
  return found;
}

async function output(found: Cell, command: string): Promise<string> {
  const { output: text } = await found.executor.execute<'run'>({
    action: 'run',
    command,
    maxOutputBytes: 4096,
  } as never);
  return text;
}

/** `attach` and `list` take no options: the engine is the one that DOCKER_HOST names. */
async function withEngine(host: string, work: () => Promise<void>): Promise<void> {
  const before = process.env.DOCKER_HOST;
  process.env.DOCKER_HOST = host;
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = before;
  }
}

async function containerIds(from: Docker): Promise<string[]> {
  const own = Object.entries(labels).map((pair) => pair.join('='));
  return (await from.listContainers({ all: true, filters: { label: own } })).map(({ Id }) => Id);
}

/** A killed engine may still list a container that it no longer has. */
async function existing(from: Docker): Promise<string[]> {
  const ids = await containerIds(from);
  const found = await Promise.all(
    ids.map((id) =>
      from
        .getContainer(id)
        .inspect()
        .then(
          () => [id],
          ({ statusCode }) => (statusCode === 404 ? [] : [id]),
        ),
    ),
  );
  return found.flat();
}

function clientOf(host: string): Docker {
  return new Docker({ socketPath: host.slice('unix://'.length) });
}
