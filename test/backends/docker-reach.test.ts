/** Ways to an engine, unreachable engines, unusable images, and what others left there. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ownLabels } from '../../src/backends/docker/labels.js';
import { dockerBuilder, pruneImages } from '../../src/backends/images/index.js';
import { temporaryDirectory } from '../../src/base/own-directory.js';
import { makeScratch } from '../../src/cell/launchers/scratch.js';
import { createRuntime } from '../../src/index.js';
import { eventually, refusal } from '../../src/testing/contract/given.js';
import { dockerEngine, images } from '../engines/docker.js';

const run = promisify(execFile);
const { host: engine } = await dockerEngine();
const socketPath = engine.slice('unix://'.length);
const client = new Docker({ socketPath });
const cell = { backend: 'docker', config: false, engine, image: images.bare } as const;
const nobody = 65_534;

describe('an engine', () => {
  test('is reached by TCP', async () => {
    const server = createServer((socket) => {
      const inside = connect(socketPath);
      socket.pipe(inside).pipe(socket);
      socket.on('error', () => inside.destroy());
      inside.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const runtime = await createRuntime({ ...cell, engine: `tcp://127.0.0.1:${port}` });
    expect((await runtime.run('echo here')).output).toBe('here\n');
    await runtime.close();
    server.close();
  });

  test.each(['nowhere', 'ftp://127.0.0.1'])('has no address such as %s', async (address) => {
    await refusal(createRuntime({ ...cell, engine: address }), 'invalid-config');
  });

  test('that this user may not use says so, and what to do', async () => {
    const { error, home } = await startAs(nobody, { backend: 'docker', engine });
    expect(error).toMatchObject({ code: 'permission-denied' });
    expect(error?.message).toContain('usermod -aG docker');
    // The start did not wait for an executor bundle first.
    expect(existsSync(join(home, '.cache'))).toBe(false);
  });

  test('is taken when no backend is named and a sandbox would not do', async () => {
    const { backend } = await startAs(0, { minIsolation: 'container' }, { DOCKER_HOST: engine });
    expect(backend).toBe('docker');
  });
});

test('what this side works with is covered in every directory that a cell sees', async () => {
  const shared = mkdtempSync(join(tmpdir(), 'workcell-shared-'));
  vi.stubEnv('TMPDIR', shared);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(shared, { recursive: true, force: true });
  });
  await using runtime = await createRuntime({ ...cell, workspace: shared, volumes: [`${shared}:/again:ro`] });
  const { path } = temporaryDirectory();
  writeFileSync(join(path, 'token'), 'secret');
  for (const place of ['/workspace', '/again'].map((folder) => `${folder}/${basename(path)}`)) {
    const { output } = await runtime.run(`chmod 700 ${place}; cat ${place}/token; ls ${place}/*`);
    expect(output).toContain('Read-only file system');
    expect(output).not.toContain('secret');
  }
  expect((await runtime.run('echo work >file; cat /again/file')).output).toBe('work\n');
});

describe('an image', () => {
  test('runs on the platform that is asked for, if it is the machine’s', async () => {
    const own = `linux/${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
    await using runtime = await createRuntime({ ...cell, platform: own });
    expect((await runtime.run('echo here')).output).toBe('here\n');
  });

  test.each(['linux/s390x', 'nonsense'])('for another platform is refused: %s', async (platform) => {
    const error = await refusal(createRuntime({ ...cell, platform }), 'invalid-config');
    expect(error.message).toContain(images.bare);
  });

  test('in which the executor cannot be started is told with what was logged, and that is told as it comes', async () => {
    const lines: string[] = [];
    const onLog = (line: string) => lines.push(line);
    const broken = await withSetpriv('echo out of order >&2; exit 3');
    const error = await refusal(createRuntime({ ...cell, image: broken, onLog }), 'backend-unavailable');
    expect(error.message).toMatch(/ended with code 3.*\nout of order$/);
    expect(lines).toEqual(['out of order']);
    const noisy = await withSetpriv('echo "begins" >&2; exec setpriv.own "$@"');
    await using _runtime = await createRuntime({ ...cell, image: noisy, onLog });
    expect(lines).toEqual(['out of order', 'begins', 'begins']);
  });
});

test('what the owner left who was killed is removed by the next one', async () => {
  const home = makeScratch('docker');
  const labels = ownLabels({ id: randomBytes(8).toString('hex'), keepAlive: false, home });
  // No process has a number as high as this.
  const owner = (labels['workcell.owner'] ?? '').replace(/^(workcell-\d+-\d+)-\d+-/, '$1-4194305-');
  const { id } = await client.createContainer({
    Image: images.bare,
    Cmd: ['sleep', '1000'],
    Labels: { ...labels, 'workcell.owner': owner },
  });
  await client.getContainer(id).start();
  // Each process looks once for each address of an engine, and no test has used this one.
  const link = join(mkdtempSync(join(tmpdir(), 'engine-')), 's');
  symlinkSync(socketPath, link);
  await using _runtime = await createRuntime({ ...cell, engine: `unix://${link}` });
  const isGone = () =>
    client
      .getContainer(id)
      .inspect()
      .then(
        () => false,
        ({ statusCode }) => statusCode === 404,
      );
  await eventually(isGone, 'the container is gone');
  await eventually(() => !existsSync(home), 'its directory is gone');
});

/** The smallest image, with this in the place of the program that starts the executor. */
async function withSetpriv(source: string): Promise<string> {
  const repository = `setpriv-test-${randomBytes(4).toString('hex')}`;
  onTestFinished(() => pruneImages({ engine, repository }).then(() => {}));
  const extraDeps = `
    mv /usr/bin/setpriv /usr/bin/setpriv.own
    printf '#!/bin/sh\\n%s\\n' '${source}' >/usr/bin/setpriv
    chmod 755 /usr/bin/setpriv`;
  const { name } = await dockerBuilder({ engine }).build({
    base: images.bare,
    extraDeps,
    executor: false,
    repository,
  });
  return name;
}

/** Starts a cell in a process of its own, as this user, with nothing else in its environment. */
async function startAs(
  uid: number,
  options: object,
  env: Record<string, string> = {},
): Promise<{ home: string; backend?: string; error?: { code: string; message: string } }> {
  const home = mkdtempSync(join(tmpdir(), 'docker-user-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  chownSync(home, uid, uid);
  const program = `
    import { createRuntime } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
    const answer = await createRuntime({ config: false, ...${JSON.stringify(options)} }).then(
      async (runtime) => { await runtime.close(); return { backend: runtime.backend }; },
      ({ code, message }) => ({ error: { code, message } }),
    );
    console.log(JSON.stringify(answer));
    process.exit();`;
  const { stdout } = await run(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', program],
    { cwd: home, uid, gid: uid, env: { PATH: process.env.PATH, HOME: home, ...env } },
  );
  return { ...JSON.parse(stdout), home };
}
