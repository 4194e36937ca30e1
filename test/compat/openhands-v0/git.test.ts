/** What a client does with git at the start of a session: it all goes through ordinary commands. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
beforeAll(() => {
  server = startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test('clone, work branch, set-up script, hook, changes and branch', async () => {
  const origin = server.path('origin');
  mkdirSync(join(origin, '.openhands'), { recursive: true });
  writeFileSync(join(origin, '.openhands/setup.sh'), 'echo once >> ../ran\nexport FROM_SETUP=yes\n', {
    mode: 0o755,
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: origin });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');

  const expectSuccess = async (command: string, args: Record<string, unknown> = {}) => {
    const { content, extras } = await server.run(command, args);
    expect([command, extras.metadata.exit_code, content]).toEqual([command, 0, content]);
    return content;
  };
  await expectSuccess(`git clone ${origin} project`);
  await expectSuccess('cd project && git checkout -b openhands-workspace-a1b2c3d4');
  const read = await server.act('read', { path: '.openhands/setup.sh' });
  expect(read.observation).toBe('read');
  await expectSuccess('chmod +x .openhands/setup.sh && source .openhands/setup.sh', {
    blocking: true,
    hidden: true,
  });
  expect(await expectSuccess('echo $FROM_SETUP; cat ../ran')).toBe('yes\nonce');
  await expectSuccess('mkdir -p .git/hooks');
  await server.act('write', { path: '.git/hooks/pre-commit', content: '#!/bin/bash\ntouch checked\n' });
  await expectSuccess('chmod +x .git/hooks/pre-commit');
  await expectSuccess('git config user.name a && git config user.email a@example.org');
  await expectSuccess('git commit -q --allow-empty -m second');
  expect(existsSync(server.path('project/checked'))).toBe(true);
  // A question of the user interface: hidden, in a separate session that starts in the given directory.
  const place = { is_static: true, hidden: true, cwd: server.path('project') };
  expect(await expectSuccess('git branch --show-current', place)).toBe('openhands-workspace-a1b2c3d4');
  const script = await server.run('python3 /openhands/code/openhands/runtime/utils/git_changes.py', place);
  expect(script.extras.metadata.exit_code).not.toBe(0);
  expect(await expectSuccess('git status --porcelain', place)).toBe('?? checked');
});
