import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { drainPools, fillPools, poolStats } from '../../src/backends/sandbox/sandbox-pool.js';
import sandbox from '../../src/backends/sandbox.js';
import { type CreateRuntimeOptions, createRuntime } from '../../src/index.js';
import { type FactCode, findFact, isEnforced } from '../../src/protocol/index.js';
import { contractSuite } from '../contract/suite.js';

type SandboxOptions = Extract<CreateRuntimeOptions, { backend: 'sandbox' }>;

const start = (options: Partial<SandboxOptions> = {}) =>
  createRuntime({ config: false, backend: 'sandbox', ...options } as SandboxOptions);

const isRoot = process.getuid?.() === 0;

contractSuite('sandbox', { backend: 'sandbox' }, { traits: ['kernels', 'checkpoints', 'forks'] });

test.runIf(isRoot)('the contract holds for a plain user too', { timeout: 300_000 }, () => {
  const user = 'workcell-test';
  try {
    execFileSync('id', [user], { stdio: 'ignore' });
  } catch {
    execFileSync('useradd', ['--create-home', user]);
  }
  const argv = ['node_modules/vitest/vitest.mjs', 'run', '--configLoader', 'runner', '--project', 'contract'];
  const asUser = ['--reuid', user, '--regid', user, '--clear-groups', process.execPath, ...argv];
  const { CI } = process.env;
  const { status, stdout } = spawnSync('setpriv', [...asUser, 'test/backends/sandbox.test.ts'], {
    env: { PATH: '/usr/bin:/bin', HOME: `/home/${user}`, NO_COLOR: '1', ...(CI && { CI }) },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(status, stdout.slice(-20_000)).toBe(0);
  expect(stdout).toMatch(/Tests +\d+ passed/);
});

describe('isolation', () => {
  test('is reported as the kernel enforces it', async () => {
    await using runtime = await start();
    expect(runtime.isolation.tier).toBe('namespace');
    const enforced = runtime.isolation.facts.filter((fact) => fact.enforced).map((fact) => fact.code);
    expect(enforced).toEqual(
      expect.arrayContaining(['namespaces', 'seccomp', 'privileges', 'network', 'files']),
    );
  });

  test('an open network is reported as such', async () => {
    await using runtime = await start({ network: 'host' });
    expect(runtime.isolation.facts.find((fact) => fact.code === 'network')).toMatchObject({
      enforced: false,
    });
    expect((await runtime.run('cat /etc/resolv.conf')).exitCode).toBe(0);
  });

  test('the probe starts a cell and says what it found', async () => {
    expect(await sandbox.probe()).toMatchObject({ available: true, tier: 'namespace', advice: [] });
  });

  test('nothing of the caller is seen: no home, no environment, no network', async () => {
    process.env.SANDBOX_TEST_SECRET = 'hidden';
    await using runtime = await start();
    const { output } = await runtime.run('env; ls -A ~; ls /root; cat /proc/net/dev | tail -n +3 | wc -l');
    expect(output).not.toContain('hidden');
    expect(output).toMatch(/cannot access '\/root'[^\n]*\n1\n?$/);
  });
});

test('what looks for a download gives up at once where there is no network', async () => {
  const retries = 'echo "$npm_config_fetch_retries,$PIP_RETRIES"';
  await using alone = await start();
  expect((await alone.run(retries)).output).toBe('0,0\n');
  await using open = await start({ network: 'host' });
  expect((await open.run(retries)).output).toBe(',\n');
  await using own = await start({ env: { PIP_RETRIES: '3' } });
  expect((await own.run(retries)).output).toBe('0,3\n');
});

describe('a workspace whose directories hand their group down', () => {
  test('keeps them, and the facts say that set-group-id files can be made', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'sandbox-group-'));
    chmodSync(workspace, 0o2755);
    await using runtime = await start({ workspace });
    expect(isEnforced(runtime.isolation, 'set-id-files')).toBe(false);
    expect((await runtime.run('mkdir d && chmod 755 d && stat -c %a d')).output).toBe('2755\n');
    rmSync(workspace, { recursive: true });
    await using other = await start();
    expect(isEnforced(other.isolation, 'set-id-files')).toBe(true);
    expect((await other.run('touch f && chmod g+s f')).exitCode).toBe(1);
  });
});

describe('mounts', () => {
  const given = mkdtempSync(join(tmpdir(), 'sandbox-given-'));
  writeFileSync(join(given, 'file'), 'given');
  afterAll(() => rmSync(given, { recursive: true, force: true }));

  test('extra paths are seen where they are, read-only unless asked for', async () => {
    await using runtime = await start({ readOnly: [given] });
    expect((await runtime.run(`cat ${given}/file; echo x >${given}/file`)).output).toMatch(
      /given.*Read-only/s,
    );
    await using writer = await start({ readWrite: [given] });
    expect((await writer.run(`echo more >>${given}/file`)).exitCode).toBe(0);
    expect(readFileSync(join(given, 'file'), 'utf8')).toBe('givenmore\n');
  });

  test('a path that does not exist is refused', async () => {
    await expect(start({ readOnly: ['/no/such/path'] })).rejects.toMatchObject({ code: 'invalid-config' });
  });

  test('a root file system of the user replaces that of the machine', async () => {
    const rootfs = mkdtempSync(join(tmpdir(), 'sandbox-rootfs-'));
    try {
      for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(rootfs, name));
      mkdirSync(join(rootfs, 'etc'));
      writeFileSync(join(rootfs, 'etc/mark'), 'of the user');
      writeFileSync(join(rootfs, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\n');
      cpSync('/usr/bin/bash', join(rootfs, 'usr/bin/bash'));
      for (const tool of ['cat', 'id', 'setsid', 'script', 'stty', 'tty'])
        cpSync(`/usr/bin/${tool}`, join(rootfs, `usr/bin/${tool}`));
      for (const path of libraries()) cpSync(path, join(rootfs, path), { dereference: true });
      await using runtime = await start({ rootfs });
      expect((await runtime.run('cat /etc/mark; id -un')).output).toBe('of the useragent\n');
      expect((await runtime.run('echo x >/usr/x')).output).toContain('Read-only');
    } finally {
      rmSync(rootfs, { recursive: true });
    }
  });
});

describe('limits', () => {
  test('on what the kernel counts for users are those that the facts tell', async () => {
    await using runtime = await start({ limits: { memoryBytes: 2 ** 28 } });
    const values = (code: FactCode) => findFact(runtime.isolation, code)?.values as { limit: number };
    const { output } = await runtime.run(
      'ulimit -Hi; ulimit -Hq; cat /proc/sys/kernel/shmall; ulimit -i unlimited; echo 1 >/proc/sys/kernel/shmall',
    );
    const [timers, queueBytes, segmentPages] = output.split('\n').map(Number);
    expect(timers).toBe(values('timers').limit);
    expect(queueBytes).toBe(values('message-queues').limit);
    expect((segmentPages ?? 0) * 4096).toBe(values('shared-memory').limit);
    expect(output).toMatch(/not permitted.*Read-only/s);
  });

  test('too much memory kills the command, says so and leaves the shell', async () => {
    await using runtime = await start({ limits: { memoryBytes: 64 << 20 } });
    const hog = await runtime.run(`python3 -c 'x = bytearray(200 << 20); print(len(x))'`);
    if (isRoot) expect(hog).toMatchObject({ endedBy: 'oom', exitCode: 137 });
    else expect(hog.exitCode).not.toBe(0);
    expect((await runtime.run('echo fine')).output).toContain('fine');
  });

  test('a fork bomb meets the limit, and the next command works', async () => {
    await using runtime = await start({ limits: { pids: 64 } });
    const bomb = await runtime.run('b() { b | b & }; b; sleep 100', { timeoutMs: 1500 });
    expect(bomb.endedBy).toBe('timeout');
    expect((await runtime.run('echo fine', { timeoutMs: 20_000 })).output).toContain('fine');
  });

  test('the number of processors is that of the limit', async () => {
    await using runtime = await start({ limits: { cpus: 1 } });
    expect((await runtime.run('nproc')).output.trim()).toBe('1');
  });

  test('scratch space and open files are bounded', async () => {
    await using runtime = await start({ limits: { diskBytes: 1 << 20, openFiles: 64 } });
    const { output } = await runtime.run(
      'head -c 4M /dev/zero >/tmp/big; head -c 4M /dev/zero >~/big; ulimit -n',
    );
    expect(output.match(/No space left/g)).toHaveLength(2);
    expect(output).toContain('64');
  });
});

describe('pool', () => {
  afterAll(drainPools);

  test('parked cells are handed out once, with a file system of their own', async () => {
    const options = { pool: { size: 2 } };
    await (await start(options)).close();
    await fillPools();
    const before = poolStats();
    expect(before.parked).toBe(2);
    await using first = await start(options);
    await first.run('echo mine >/workspace/note; echo mine >/tmp/note');
    await using second = await start(options);
    expect((await second.run('cat /workspace/note /tmp/note')).exitCode).toBe(1);
    expect(poolStats().hits - before.hits).toBe(2);
    expect((await second.stats()).pool).toMatchObject({ hits: before.hits + 2, misses: before.misses });
    await using alone = await start();
    expect(await alone.stats()).not.toHaveProperty('pool');
  });

  test('another shape is another shelf', async () => {
    const misses = poolStats().misses;
    await using runtime = await start({ pool: { size: 2 }, limits: { pids: 99 } });
    expect((await runtime.run('true')).exitCode).toBe(0);
    expect(poolStats().misses).toBe(misses + 1);
  });

  test('a process that waits for its pools to be empty lives to see it', () => {
    const at = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path));
    const program = `
      import { createRuntime } from ${at('index.ts')};
      import { drainPools, fillPools } from ${at('backends/sandbox/sandbox-pool.ts')};
      await (await createRuntime({ config: false, backend: 'sandbox', pool: { size: 1 } })).close();
      await fillPools();
      await drainPools();
      console.log('empty');`;
    const args = ['--import', 'tsx', '--input-type', 'module', '--eval', program];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('empty\n');
  });
});

test('when the owner is killed the cell goes too', async () => {
  const seconds = `${50_000_000 + process.pid}`;
  const program = `
    import { createRuntime } from ${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))};
    const runtime = await createRuntime({ config: false, backend: 'sandbox' });
    await runtime.run('sleep ${seconds} & setsid sleep ${seconds} &');
    console.log('up');
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise((resolve) => owner.stdout.once('data', resolve));
    const sleepers = () => commandLines().filter((line) => line.startsWith(`sleep ${seconds}`)).length;
    await expect.poll(sleepers).toBe(2);
    owner.kill('SIGKILL');
    await expect.poll(sleepers).toBe(0);
  } finally {
    owner.kill('SIGKILL');
  }
});

test('the command line of the cell on this machine shows no variable', async () => {
  await using runtime = await start({ env: { TOKEN: 'do-not-show' } });
  expect((await runtime.run('echo $TOKEN')).output).toContain('do-not-show');
  expect(commandLines().filter((line) => line.includes('do-not-show'))).toEqual([]);
});

test('what this side works with is hidden in every directory that a cell sees', async () => {
  const shared = mkdtempSync(join(tmpdir(), 'sandbox-shared-'));
  vi.stubEnv('TMPDIR', shared);
  try {
    await using runtime = await start({ workspace: shared, readWrite: ['/dev/shm', shared] });
    const name = `workcell-${process.getuid?.()}`;
    // Programs that this side starts come from there.
    const kept = ['/dev/shm', shared].map((folder) => join(folder, name));
    for (const path of kept) writeFileSync(join(path, 'token'), 'secret');
    for (const folder of ['/workspace', shared, '/dev/shm']) {
      const found = `cd ${folder}/${name} && find . -mindepth 1 -printf 'found %p'; touch mine; mv ../${name} ../other`;
      const { exitCode, output } = await runtime.run(found);
      expect(exitCode).toBe(1);
      expect(output).not.toContain('found');
    }
    for (const path of kept) expect(readdirSync(path)).toContain('token');
    for (const path of kept) rmSync(join(path, 'token'));
  } finally {
    vi.unstubAllEnvs();
    rmSync(shared, { recursive: true, force: true });
  }
});

test('a closed sandbox leaves neither process nor directory nor control group', async () => {
  const runtime = await start();
  const program = `sleep ${60_000_000 + process.pid}`;
  await runtime.run(`${program} &`);
  await runtime.close();
  expect(commandLines().filter((line) => line.startsWith(program))).toEqual([]);
  const groups = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].filter((path) => existsSync(path));
  const own = groups.flatMap((path) => readdirSync(path)).filter((name) => name.includes(`-${process.pid}-`));
  expect(own).toEqual([]);
});

/** The libraries of the programs in a small root file system. */
function libraries(): string[] {
  const programs = ['bash', 'id', 'script'].map((name) => `/usr/bin/${name}`);
  const listed = execFileSync('ldd', programs, { encoding: 'utf8' });
  return [...new Set([...listed.matchAll(/(?:=> )?(\/lib\S+) \(/g)].map((match) => `/usr${match[1]}`))];
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    });
}
