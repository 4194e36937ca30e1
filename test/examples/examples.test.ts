/**
 * The examples that work in a place of their own, which they get here; the release gate runs the others. They assert what
 * they show and end with an error code when it does not hold.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { start, withDirectory } from '../cli/workcell.js';
import { dockerEngine, images } from '../engines/docker.js';
import { checkout } from '../house/source.js';

const run = promisify(execFile);

async function runExample(name: string, env: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', `examples/${name}.ts`], {
    cwd: checkout,
    env: { ...process.env, ...env },
  });
  expect(stderr).toBe('');
  return stdout;
}

test('a program works in a cell that a server has', () =>
  withDirectory(async (directory) => {
    const token = join(directory, 'token');
    writeFileSync(token, 'a-token-of-the-tests-only', { mode: 0o600 });
    const words = ['executor', '--backend', 'sandbox', '--listen', '127.0.0.1:0', '--token-file', token];
    const server = start(words, { cwd: directory });
    await server.printed('http://');
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(server.text()) ?? [];
    const said = await runExample('remote-client', { CELL_URL: url, CELL_TOKEN_FILE: token });
    expect(said).toContain('isolation namespace');
    expect(said).toContain('from there');
    server.child.kill('SIGTERM');
    await server.ended;
  }));

test('a program works in a container', async () => {
  const { host } = await dockerEngine();
  const said = await runExample('docker', { DOCKER_HOST: host, IMAGE: images.tools });
  expect(said).toMatch(/enforced: .*network/);
});
