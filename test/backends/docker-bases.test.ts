/** Bases other than Debian and Ubuntu: systems like Fedora and Alpine, made of Debian's packages; and where bases come from. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dockerBuilder, pruneImages } from '../../src/backends/images/index.js';
import { createRuntime } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { start } from '../cli/workcell.js';
import { dockerEngine } from '../engines/docker.js';
import { serveImage } from '../engines/registry.js';
import { makeWheel } from './images/wheel.js';

const run = promisify(execFile);
const testEngine = await dockerEngine();
const { host: engine } = testEngine;
const own = `bases-${randomBytes(4).toString('hex')}`;
const imported = new Set<string>();

afterAll(async () => {
  await pruneImages({ engine, repository: own });
  for (const image of imported) await docker('rmi', '--force', image);
});

describe('a base like Fedora', () => {
  const image = `${own}-fedora`;
  const cell = { backend: 'docker', config: false, engine, image } as const;
  const python = { ...cell, backend: 'ubuntu-docker' } as const;

  beforeAll(async () => {
    const make = fileURLToPath(new URL('../../scripts/engines/fedora-image', import.meta.url));
    const { stdout: archive } = await run(make);
    await importArchive(archive.trim(), image);
  }, 900_000);

  test('runs commands, with nothing of Debian in it', async () => {
    const command = 'cat /etc/os-release; tty <&1; command -v apt-get dpkg python3; ls -d /lib/*-linux-gnu';
    const { stdout } = await start(['run', '--backend', 'docker', '--image', image, command], {
      env: { DOCKER_HOST: engine },
    }).ended;
    expect(stdout).toMatch(/^ID=fedora-like\n(?:.*\n)*\/dev\/pts\/\d+\n.*No such file or directory\n$/);
  });

  test('gets packages by dnf in a command of one’s own, and an executor', async () => {
    const spec = { base: image, extraDeps: 'dnf install -y tally', repository: own };
    const { name } = await dockerBuilder({ engine }).build(spec);
    expect(await docker('run', '--rm', '--entrypoint=rpm', name, '-q', 'tally')).toBe('tally-1-1.noarch');
    expect(await docker('run', '--rm', name, 'executor', '--help')).toContain('--listen');
  });

  test('gets packages by dnf that are named', async () => {
    const builder = dockerBuilder({ engine });
    const packages = { base: image, systemPackages: ['tally'], executor: false, repository: own };
    const { name } = await builder.build(packages);
    await using runtime = await createRuntime({ ...cell, image: name });
    expect((await runtime.run('printf "a\\nb\\n" | tally')).output).toBe('2\n');
    const error = await refusal(
      builder.build({ ...packages, systemPackages: ['no-such-package'] }),
      'build-failed',
    );
    expect(error.message).toContain('Unable to find a match: no-such-package');
    expect(error.message).not.toContain('zypper');
  });

  test('without a Python gets its own', async () => {
    await using runtime = await createRuntime({ ...python, systemPackages: ['tally'] });
    const { output } = await runtime.run(
      'echo "$PYTHON_EXECUTABLE"; test -d "$PYTHONPATH" && tally </dev/null',
    );
    expect(output).toBe('/usr/bin/python3\n0\n');
    const demand = createRuntime({ ...python, systemPackages: ['tally'], pythonVersion: '>=4' });
    expect((await refusal(demand, 'image-unsuitable')).message).toMatch(
      /has Python 3\.\d+\.\d+, and you demand >=4/,
    );
  });

  test('has Python packages in an environment of their own', async () => {
    const spec = { executor: false, repository: own };
    const extraDeps = `python3 - <<'EOF'\n${makeWheel}EOF`;
    const builder = dockerBuilder({ engine });
    const { name: base } = await builder.build({
      ...spec,
      base: image,
      systemPackages: ['python3'],
      extraDeps,
    });
    const { name } = await builder.build(
      { ...spec, base, pythonPackages: ['tiny-thing>=1'] },
      { network: 'none', variables: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: '/wheels' } },
    );
    const use = ['python3', '-c', 'import tiny_thing; print(tiny_thing.answer)'];
    expect(await docker('run', '--rm', name, ...use)).toBe('42');
  });
});

describe('a base like Alpine', () => {
  const cell = { backend: 'docker', config: false, engine } as const;

  test.each(['docker', 'ubuntu-docker'] as const)(
    'without bash is refused by %s, with what to do',
    async (backend) => {
      const image = await importAlpine([]);
      const error = await refusal(createRuntime({ ...cell, backend, image }), 'image-unsuitable');
      expect(error.message).toMatch(
        /^Alpine Linux v3.20 has no bash.*apk add bash util-linux.*debian:bookworm/,
      );
    },
  );

  test('with busybox’s setpriv in place of util-linux’ is refused, with what to do', async () => {
    const image = await importAlpine(['bash']);
    const error = await refusal(createRuntime({ ...cell, image }), 'image-unsuitable');
    expect(error.message).toContain('apk add util-linux');
  });

  test('that has both runs commands with its own C library, and the executor with another', async () => {
    const image = await importAlpine(['bash', 'setpriv']);
    await using runtime = await createRuntime({ ...cell, image });
    const { output } = await runtime.run('tty; id -u; hello; ls /lib; grep CapBnd /proc/self/status');
    expect(output).toMatch(
      /^\/dev\/pts\/\d+\n1\d{9}\nhello from musl\nld-musl-[\w-]+\.so\.1\nCapBnd:\s*0+\n$/,
    );
    await runtime.write('note', 'written\n');
    expect((await runtime.run('cat note')).output).toBe('written\n');
  });
});

test('an image that the engine does not have is pulled, and what it says meanwhile is told', async () => {
  const image = await importAlpine(['bash', 'setpriv']);
  const { name, stop } = await serveImage(testEngine, image);
  try {
    await docker('rmi', image);
    const messages: string[] = [];
    await using runtime = await createRuntime({
      backend: 'docker',
      config: false,
      engine,
      image: name,
      onStatus: ({ status, message }) => void (status === 'BUILDING_RUNTIME' && messages.push(message)),
    });
    expect((await runtime.run('hello')).output).toBe('hello from musl\n');
    expect(messages).toContainEqual(expect.stringMatching(/: Pull complete$/));
    expect(messages.at(-1)).toContain('Downloaded newer image');
  } finally {
    await stop();
    await docker('rmi', '--force', name);
  }
});

async function docker(...words: string[]): Promise<string> {
  return (await run('docker', ['--host', engine, ...words])).stdout.trim();
}

async function importArchive(archive: string, image: string): Promise<void> {
  await docker('import', '--change', 'CMD ["sh"]', archive, image);
  imported.add(image);
}

/** Busybox and musl, a program linked to it, and further requested ones. */
async function importAlpine(further: readonly ('bash' | 'setpriv')[]): Promise<string> {
  const image = [own, 'alpine', ...further].join('-');
  const scratch = mkdtempSync(join(tmpdir(), 'alpine-'));
  try {
    const root = join(scratch, 'root');
    for (const directory of ['bin', 'lib', 'etc', 'tmp'])
      mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, 'etc/os-release'), 'ID=alpine\nPRETTY_NAME="Alpine Linux v3.20"\n');
    copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
    for (const name of ['sh', 'ls', 'cat', 'id', 'tty', 'grep', 'mkfifo', 'setpriv'])
      symlinkSync('busybox', join(root, 'bin', name));
    const loader = `ld-musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
    copyFileSync(join('/lib', loader), join(root, 'lib', loader));
    chmodSync(join(root, 'lib', loader), 0o755);
    const source = join(scratch, 'hello.c');
    writeFileSync(source, '#include <stdio.h>\nint main(void) { return puts("hello from musl") < 0; }\n');
    await run('musl-gcc', ['-o', join(root, 'bin/hello'), source]);
    if (further.includes('bash')) copyFileSync('/bin/bash-static', join(root, 'bin/bash'));
    if (further.includes('setpriv')) await copySetpriv(root);
    const archive = join(scratch, 'image.tar');
    await run('tar', ['-C', root, '-cf', archive, '.']);
    await importArchive(archive, image);
    return image;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** That of util-linux, which Debian has for its own C library only, with that hidden beside it. */
async function copySetpriv(root: string): Promise<void> {
  const place = '/usr/libexec/setpriv';
  mkdirSync(join(root, place), { recursive: true });
  const { stdout } = await run('ldd', ['/usr/bin/setpriv']);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  for (const path of ['/usr/bin/setpriv', ...libraries])
    copyFileSync(realpathSync(path), join(root, place, basename(path)));
  const loader = libraries.map((path) => basename(path)).find((name) => name.startsWith('ld-'));
  rmSync(join(root, 'bin/setpriv'));
  const script = `#!/bin/bash\nexec ${place}/${loader} --library-path ${place} ${place}/setpriv "$@"\n`;
  writeFileSync(join(root, 'bin/setpriv'), script, { mode: 0o755 });
}
