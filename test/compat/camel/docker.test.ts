/** CAMEL's own DockerRuntime, unchanged, on an image of this package. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { workcell } from '../../cli/workcell.js';
import { dockerEngine, images } from '../../engines/docker.js';

const run = promisify(execFile);
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
/** Where `scripts/setup --tests` installs it, for the Python that the image has too. */
const camel = join(cache, 'workcell/camel');
const script = fileURLToPath(new URL('docker_runtime.py', import.meta.url));
let engine: Awaited<ReturnType<typeof dockerEngine>>;

beforeAll(async () => {
  engine = await dockerEngine();
}, 300_000);

test('a program with DockerRuntime gets its tools from the container, and runs its tasks there', async () => {
  const repository = `camel-test-${randomBytes(4).toString('hex')}`;
  const words = ['images', 'build', '--base', images.tools, '--camel', '--repository', repository];
  const built = await workcell(words, { env: { DOCKER_HOST: engine.host } });
  expect(built).toMatchObject({ exitCode: 0 });
  const image = built.stdout.trim();
  expect(await workcell(words, { env: { DOCKER_HOST: engine.host } })).toMatchObject({
    stdout: `${image}\n`,
  });

  const folder = mkdtempSync(join(tmpdir(), 'camel-docker-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [python = ''] = readdirSync(join(camel, 'lib'));
  const packages = join(camel, 'lib', python, 'site-packages');
  // The ports that this engine publishes are in a network of its own.
  const { stdout } = await run(
    'nsenter',
    [`--net=/proc/${engine.networkPid}/ns/net`, join(camel, 'bin/python3'), script, image, folder, packages],
    { env: { PATH: process.env.PATH, HOME: folder, DOCKER_HOST: engine.host } },
  );
  expect(JSON.parse(/^answers (.*)$/m.exec(stdout)?.[1] ?? '{}')).toEqual({
    ready: true,
    add: 3,
    task: 'a task from daemon in /var\n',
    mounted: true,
    code: expect.stringContaining('for the toolkits true'),
    python: '42\n',
    terminal: 0,
    stream: [null, 'one\ntwo\n'],
    demux: ['out\n', 'err\n'],
    detached: null,
    docs: 'http://localhost:8000/docs',
    'after a reset': [true, 42],
    stopped: false,
  });
  expect(stdout).toContain('Executed Results');
});
