import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  dockerBuilder,
  type ImageBuilder,
  listImages,
  pruneImages,
} from '../../../src/backends/images/index.js';
import { start } from '../../cli/workcell.js';
import { dockerEngine, images } from '../../engines/docker.js';
import { makeWheel } from './wheel.js';

const run = promisify(execFile);

let host: string;
let builder: ImageBuilder;

beforeAll(async () => {
  ({ host } = await dockerEngine());
  builder = dockerBuilder({ engine: host });
}, 300_000);

async function docker(...words: string[]): Promise<string> {
  return (await run('docker', ['--host', host, ...words])).stdout.trim();
}

/** Tests at the same time share the engine, so each has names of its own. */
function ownRepository(): string {
  return `images-test-${randomBytes(4).toString('hex')}`;
}

/** An image made of files. */
async function importImage(fill: (root: string) => void, ...changes: string[]): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'images-test-'));
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }));
  const root = join(scratch, 'root');
  mkdirSync(root);
  fill(root);
  await run('tar', ['-C', root, '-cf', join(scratch, 'image.tar'), '.']);
  const name = `${ownRepository()}:base`;
  await docker(
    'import',
    ...changes.flatMap((change) => ['--change', change]),
    join(scratch, 'image.tar'),
    name,
  );
  return name;
}

test('an image is built once and then found; of what changed only that is built', async () => {
  const lines: string[] = [];
  const spec = { base: images.bare, extraDeps: 'apt-get install -y jq', repository: ownRepository() };
  const first = await builder.build(spec, {
    onProgress: ({ stage, message }) => lines.push(`${stage}: ${message}`),
  });
  expect(first.built).toBe('all');
  expect(lines.join('\n')).toMatch(/^dependencies: .*jq/m);
  expect(first.tags).toHaveLength(3);
  expect(first.tags.at(-1)).toMatch(/:wc_v[\d.]+_debian_t_bookworm$/);
  expect(await docker('run', '--rm', '--entrypoint=jq', first.name, '--version')).toMatch(/^jq/);
  expect(await docker('run', '--rm', first.name, 'executor', '--help')).toContain('--listen');
  expect(await builder.build(spec)).toEqual({ ...first, built: 'nothing' });

  await docker('rmi', first.name);
  expect(await builder.exists(first.name)).toBe(false);
  expect(await builder.build(spec)).toEqual({ ...first, built: 'executor' });
  expect(await builder.exists(first.name)).toBe(true);

  const other = await builder.build({ ...spec, extraDeps: 'apt-get install -y jq; jq --version' });
  expect(other.name).not.toBe(first.name);
  expect(other.built).toBe('all');
});

test('packages of the system alone make an image without an executor, which keeps the user of its base', async () => {
  const scratch = ownRepository();
  await docker('create', '--name', scratch, '--user=1234:5', images.bare, 'true');
  onTestFinished(() => docker('rm', scratch).then(() => {}));
  await docker('commit', scratch, `${scratch}:base`);
  const image = await builder.build({
    base: `${scratch}:base`,
    systemPackages: ['jq'],
    executor: false,
    repository: scratch,
  });
  expect(await docker('run', '--rm', image.name, 'sh', '-c', 'jq --version; id -u; ls /opt')).toMatch(
    /^jq.*\n1234$/,
  );
});

test('Python packages are installed where python3 finds them, from an index whose password is kept nowhere', async () => {
  const password = randomBytes(8).toString('hex');
  const base = await pythonBase();
  const lines: string[] = [];
  const image = await builder.build(
    {
      base,
      pythonPackages: ['tiny-thing>=1'],
      extraDeps: 'echo "$INDEX"',
      executor: false,
      repository: ownRepository(),
    },
    {
      variables: {
        PIP_NO_INDEX: '1',
        PIP_FIND_LINKS: '/wheels',
        INDEX: `http://user:${password}@index/simple`,
      },
      network: 'none',
      onProgress: ({ message }) => lines.push(message),
    },
  );
  expect(
    await docker('run', '--rm', image.name, 'python3', '-c', 'import tiny_thing; print(tiny_thing.answer)'),
  ).toBe('42');
  expect(lines).toContain('***');
  const kept = [
    await docker('history', '--no-trunc', image.name),
    await docker('inspect', image.name),
    lines.join('\n'),
  ];
  expect(kept.join('\n')).not.toContain(password);
  const files = await docker(
    'run',
    '--rm',
    image.name,
    'sh',
    '-c',
    `grep -rl ${password} /etc /opt /root /tmp /var || true`,
  );
  expect(files).toBe('');
});

test('a directory with a Dockerfile is a base, for images with several names', async () => {
  const repository = ownRepository();
  const directory = mkdtempSync(join(tmpdir(), 'images-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = (name: string, text: string) => writeFileSync(join(directory, name), text);
  file(
    'Dockerfile',
    `FROM ${images.bare}\nARG WORD\nCOPY . /here\nRUN echo "$WORD $FTP_PROXY" > /here/word\n`,
  );
  file('.dockerignore', '# not these\n*.log\nnode_modules/\n!keep.log\n');
  mkdirSync(join(directory, 'node_modules'));
  for (const name of ['a.txt', 'b.log', 'keep.log', 'node_modules/c']) file(name, name);
  symlinkSync('a.txt', join(directory, 'link'));
  const names = [`${repository}-mine:1`, `${repository}-mine:latest`];
  const words = ['images', 'build', directory, '--no-executor', '--repository', repository];
  const build = async (word = 'said') => {
    const tags = names.flatMap((name) => ['--tag', name]);
    const result = await start([...words, '-e', `WORD=${word}`, ...tags, '--json'], {
      env: { DOCKER_HOST: host },
    }).ended;
    expect(result).toMatchObject({ exitCode: 0 });
    return JSON.parse(result.stdout) as { name: string; tags: string[] };
  };
  const image = await build();
  expect(image.tags).toEqual([image.name, ...names]);
  for (const name of names)
    expect(await docker('run', '--rm', name, 'sh', '-c', 'cd /here; ls -A; cat link word')).toBe(
      '.dockerignore\nDockerfile\na.txt\nkeep.log\nlink\nword\na.txtsaid',
    );
  expect((await build()).name).toBe(image.name);
  expect((await build('other')).name).not.toBe(image.name);
  file('a.txt', 'changed');
  expect((await build()).name).not.toBe(image.name);
});

test('nothing is built where nothing was asked for', async () => {
  expect(await builder.build({ base: images.bare, executor: false })).toEqual({
    name: images.bare,
    tags: [images.bare],
    built: 'nothing',
  });
});

test('those who ask for the same at the same time get the same', async () => {
  const spec = { base: images.bare, extraDeps: 'true', executor: false, repository: ownRepository() };
  const another = dockerBuilder({ engine: host });
  const built = await Promise.all([builder.build(spec), builder.build(spec), another.build(spec)]);
  expect(new Set(built.map(({ name }) => name)).size).toBe(1);
  expect(
    built
      .slice(0, 2)
      .map(({ built }) => built)
      .sort(),
  ).toEqual(['all', 'nothing']);
});

test('who waits for the build of another may give up', async () => {
  const spec = { base: images.bare, extraDeps: 'sleep 2', executor: false, repository: ownRepository() };
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const first = builder.build(spec, { onProgress: begun });
  await running;
  const cancel = new AbortController();
  const second = builder.build(spec, { signal: cancel.signal });
  cancel.abort();
  await expect(second).rejects.toMatchObject({ code: 'cancelled' });
  expect((await first).built).toBe('all');
});

test('a build that was done before asks the engine twice, and for nothing but what images there are', async () => {
  const spec = { base: images.bare, extraDeps: 'true', executor: false, repository: ownRepository() };
  const { name } = await builder.build(spec);
  const { engine, requests } = await countingEngine();
  await dockerBuilder({ engine }).build(spec);
  expect(requests).toEqual([`GET /images/${images.bare}/json`, `GET /images/${name}/json`]);
});

test('a secret is masked however its output is cut', async () => {
  const secret = randomBytes(8).toString('hex');
  const lines: string[] = [];
  const cut =
    'printf "%s" "$SECRET" | cut -c1-8 | tr -d "\\n"; sleep 0.2; printf "%s\\n" "$SECRET" | cut -c9-';
  await builder.build(
    { base: images.bare, extraDeps: cut, executor: false, repository: ownRepository() },
    { variables: { SECRET: secret }, onProgress: ({ message }) => lines.push(message) },
  );
  expect(lines).toContain('***');
  expect(lines.join('\n')).not.toContain(secret.slice(8));
});

test('words of a spec are never read as a Dockerfile or as a shell reads them', async () => {
  const image = await builder.build({
    base: images.bare,
    extraDeps: 'cat > /said <<EOF\n$((6*7)) "quoted" \\\\ \'single\'\nRUN false\nEOF\n',
    executor: false,
    repository: ownRepository(),
  });
  expect(await docker('run', '--rm', image.name, 'cat', '/said')).toBe(
    '42 "quoted" \\ \'single\'\nRUN false',
  );
  for (const spec of [
    { base: 'debian\nRUN touch /x' },
    { base: '--platform=x debian' },
    { base: images.bare, systemPackages: ['jq; touch /x'] },
    { base: images.bare, systemPackages: ['-o=Dpkg::Options::=x'] },
    { base: images.bare, systemPackages: ['bash-'] },
    { base: images.bare, pythonPackages: ['--index-url=http://x'] },
    { base: images.bare, pythonPackages: ['a\nb'] },
    { base: images.bare, repository: 'Not Valid' },
    { base: images.bare, platform: 'linux/amd64 RUN' },
    { base: images.bare, unknown: true },
  ]) {
    await expect(builder.build(spec)).rejects.toMatchObject({ code: 'invalid-config' });
  }
  await expect(
    builder.build({ base: images.bare, extraDeps: 'true' }, { variables: { 'A;touch /x': '' } }),
  ).rejects.toMatchObject({ code: 'invalid-config' });
});

test('a command that fails is quoted and leaves no image with a name', async () => {
  const repository = ownRepository();
  const failing = builder.build({ base: images.bare, extraDeps: 'echo no luck >&2; exit 3', repository });
  await expect(failing).rejects.toMatchObject({
    code: 'build-failed',
    message: expect.stringContaining('no luck'),
    details: { exitCode: 3 },
  });
  expect(await docker('images', '-q', repository)).toBe('');
});

test('a base that is not there is named', async () => {
  await expect(builder.build({ base: 'localhost:1/none:1' })).rejects.toMatchObject({
    code: 'image-missing',
    message: expect.stringContaining('localhost:1/none:1'),
  });
});

test('an engine that is not there is named', async () => {
  const nowhere = dockerBuilder({ engine: 'unix:///nowhere/socket' });
  await expect(nowhere.build({ base: images.bare })).rejects.toMatchObject({ code: 'backend-unavailable' });
});

test('an executor for another kind of machine is refused', async () => {
  const platform = process.arch === 'arm64' ? 'linux/amd64' : 'linux/arm64';
  await expect(builder.build({ base: images.bare, platform })).rejects.toMatchObject({
    code: 'capability-unsupported',
  });
});

test('a base without bash is refused with what to do, and with bash it is of use whatever its C library', async () => {
  const repository = ownRepository();
  const alpine = (root: string) => {
    for (const directory of ['bin', 'lib', 'etc', 'tmp']) mkdirSync(join(root, directory));
    writeFileSync(join(root, 'lib/ld-musl-x86_64.so.1'), '');
    writeFileSync(join(root, 'etc/os-release'), 'ID=alpine\nPRETTY_NAME="Alpine Linux v3.20"\n');
    copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
    symlinkSync('busybox', join(root, 'bin/sh'));
  };
  await expect(builder.build({ base: await importImage(alpine), repository })).rejects.toMatchObject({
    code: 'image-unsuitable',
    message: expect.stringMatching(/^Alpine Linux v3.20 has no bash.*apk add bash/),
    details: { libc: 'musl' },
  });
  expect(await docker('images', '-q', repository)).toBe('');
  const withBash = await importImage((root) => {
    alpine(root);
    copyFileSync('/bin/bash-static', join(root, 'bin/bash'));
  });
  const image = await builder.build({ base: withBash, repository });
  expect(await docker('run', '--rm', image.name, 'executor', '--help')).toContain('--listen');
});

test('a base that sets a user which is no user is refused', async () => {
  const base = await importImage((root) => mkdirSync(join(root, 'bin')), 'USER "a b"');
  await expect(builder.build({ base })).rejects.toMatchObject({ code: 'image-unsuitable' });
});

test('a build that is cancelled ends, and what it was running too', async () => {
  const cancel = new AbortController();
  const marker = randomBytes(8).toString('hex');
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const cancelled = builder.build(
    {
      base: images.bare,
      extraDeps: `echo begun; sleep 1000 # ${marker}`,
      executor: false,
      repository: ownRepository(),
    },
    { signal: cancel.signal, onProgress: ({ message }) => message === 'begun' && begun() },
  );
  await Promise.race([running, cancelled]);
  const containers = await docker('ps', '--no-trunc', '--format', '{{.ID}} {{.Command}}');
  const id =
    containers
      .split('\n')
      .find((line) => line.includes(marker))
      ?.split(' ')[0] ?? '';
  cancel.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  // Waits for the end of the container; one that is already removed is as good.
  await docker('wait', id).catch((error: Error) => expect(error.message).toContain('No such container'));
});

test('prune removes what was built and is not in use, and says what it freed', async () => {
  const repository = ownRepository();
  const spec = { base: images.bare, executor: false, repository };
  const makeFile = 'head -c 3000000 /dev/urandom > /big';
  const used = await builder.build({ ...spec, extraDeps: `${makeFile}; true` });
  const unused = await builder.build({ ...spec, extraDeps: makeFile });
  await docker('create', '--name', repository, used.name);
  onTestFinished(() => docker('rm', repository).then(() => {}));
  const listed = (await listImages({ engine: host })).filter(({ tags }) => tags[0]?.startsWith(repository));
  expect(listed.map(({ inUse, base }) => ({ inUse, base }))).toEqual(
    expect.arrayContaining([
      { inUse: true, base: images.bare },
      { inUse: false, base: images.bare },
    ]),
  );
  const pruned = await pruneImages({ engine: host, repository });
  expect(pruned.freedBytes).toBeGreaterThanOrEqual(3_000_000);
  expect(pruned.removed.flatMap(({ tags }) => tags)).toContain(unused.name);
  expect(pruned.kept.flatMap(({ tags }) => tags)).toContain(used.name);
  expect(await builder.exists(unused.name)).toBe(false);
  expect(await builder.exists(used.name)).toBe(true);
});

test('the command line builds, lists and prunes', async () => {
  const env = { DOCKER_HOST: host };
  const repository = ownRepository();
  const build = [
    'images',
    'build',
    '--base',
    images.bare,
    '--extra-deps',
    'true',
    '--repository',
    repository,
  ];
  const built = await start(build, { env }).ended;
  expect(built).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^images-test-[\w.:-]+\n$/) });
  expect(built.stderr).toContain('dependencies: ');
  const again = await start([...build, '--json'], { env }).ended;
  expect(JSON.parse(again.stdout)).toMatchObject({ name: built.stdout.trim(), built: 'nothing' });
  expect((await start(['images', 'list'], { env }).ended).stdout).toContain(built.stdout.trim());
  expect((await start(['images', 'prune', '--repository', repository], { env }).ended).stdout).toMatch(
    /freed\.\n$/,
  );
  const refused = await start(['images', 'build', '--base', 'A B', '--json'], { env }).ended;
  expect(refused.exitCode).toBe(78);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'invalid-config' } });
});

/** Passes requests on to the engine, and notes them. */
async function countingEngine(): Promise<{ engine: string; requests: string[] }> {
  const scratch = mkdtempSync(join(tmpdir(), 'images-test-'));
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`);
    const { method, url: path, headers } = request;
    const onward = forward({ socketPath: host.slice('unix://'.length), method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.listen(join(scratch, 's'));
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(scratch, { recursive: true, force: true });
  });
  return { engine: `unix://${join(scratch, 's')}`, requests };
}

/** The image with Python, and a wheel in it. */
async function pythonBase(): Promise<string> {
  const name = ownRepository();
  await docker('run', '--name', name, images.tools, 'python3', '-c', makeWheel);
  await docker('commit', name, `${name}:base`);
  await docker('rm', name);
  return `${name}:base`;
}
