/** Commands under the user that the client names. Needs root, as the server does; the account is of this test alone. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeZip } from '../../../src/base/zip-writer.js';
import { start, workcell } from '../../cli/workcell.js';
import { startPythonClient } from '../openhands-python/client.js';

const name = `wc-${process.pid}`;
const uid = 54_000 + (process.pid % 5000);
const key = 'a-key-for-this-test-only';
const rules = '/etc/sudoers.d';
const rule = join(rules, name);
const lacks = [
  process.getuid?.() !== 0 && 'root',
  spawnSync('useradd', ['--help']).status !== 0 && 'useradd',
  spawnSync('sudo', ['-V']).status !== 0 && 'sudo',
  !existsSync(rules) && rules,
].filter((lack) => lack !== false);
const possible = lacks.length === 0;
if (!possible)
  console.warn(`Skipped: this makes an account that may use sudo, and needs ${lacks.join(', ')}.`);

/** Earlier runs that were killed left their account, and a rule that lets it do everything. */
function removeStale(): void {
  const accounts = execFileSync('getent', ['passwd'], { encoding: 'utf8' }).split('\n');
  const names = [...accounts.map((line) => line.split(':')[0] ?? ''), ...readdirSync(rules)];
  for (const stale of new Set(names)) {
    const [, pid] = /^wc-(\d+)$/.exec(stale) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(rules, stale), { force: true });
    spawnSync('userdel', ['--remove', stale]);
  }
}

describe.skipIf(!possible)('a server that was started as root with a user', () => {
  let folder: string;
  let workspace: string;
  let url: string;
  let server: ReturnType<typeof start>;

  beforeAll(async () => {
    removeStale();
    folder = mkdtempSync(join(tmpdir(), 'v0-user-'));
    chmodSync(folder, 0o711);
    workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'of-root'), 'x\n', { mode: 0o600 });
    server = start(
      [
        'openhands-server',
        '0',
        '--working-dir',
        workspace,
        '--username',
        name,
        '--user-id',
        String(uid),
        '--no-enable-browser',
      ],
      { env: { SESSION_API_KEY: key } },
    );
    await server.printed('listening on ');
    url = /listening on (\S+)/.exec(server.text())?.[1] ?? '';
  });
  afterAll(async () => {
    server?.child.kill('SIGTERM');
    await server?.ended;
    rmSync(rule, { force: true });
    spawnSync('userdel', ['--remove', name]);
    rmSync(folder, { recursive: true, force: true });
  });

  const connectTo = (url: string, directory: string) =>
    startPythonClient({ script: new URL('client.py', import.meta.url), url, key, directory });

  async function zipOf(files: Record<string, string>): Promise<Buffer<ArrayBuffer>> {
    const members = Object.entries(files).map(([name, text]) => ({ name, content: [Buffer.from(text)] }));
    const parts: Uint8Array[] = [];
    for await (const part of writeZip(Readable.from(members), { compress: false })) parts.push(part);
    return Buffer.concat(parts);
  }

  async function act(
    action: string,
    args: object,
  ): Promise<{ content: string; extras: Record<string, unknown> }> {
    const answer = await fetch(`${url}/execute_action`, {
      method: 'POST',
      headers: { 'x-session-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ action: { action, args } }),
    });
    return (await answer.json()) as { content: string; extras: Record<string, unknown> };
  }

  test('commands are that user, at home in a home of its own', async () => {
    const { content, extras } = await act('run', {
      command: 'id -un; id -u; echo $HOME; ls -ld $HOME | cut -d" " -f3',
    });
    expect(content.split(/\r?\n/)).toEqual([name, String(uid), `/home/${name}`, name]);
    expect(extras).toMatchObject({ metadata: { username: name, exit_code: 0 } });
  });

  test('the working directory is its own, and so is what files are written with', async () => {
    expect((await act('run', { command: 'cat of-root' })).content).toBe('x');
    await act('write', { path: join(workspace, 'written'), content: 'y\n' });
    expect(statSync(join(workspace, 'written')).uid).toBe(uid);
    expect((await act('run', { command: 'echo more >> written && cat written' })).content).toMatch(
      /^y\s+more$/,
    );
  });

  test('an uploaded directory is its own too', async () => {
    const archive = await zipOf({ 'd/f': 'uploaded\n' });
    const body = new FormData();
    body.append('file', new Blob([archive]), 'd.zip');
    const answer = await fetch(`${url}/upload_file?destination=${workspace}/up&recursive=true`, {
      method: 'POST',
      headers: { 'x-session-api-key': key },
      body,
    });
    expect(answer.status).toBe(200);
    expect(statSync(join(workspace, 'up/d/f')).uid).toBe(uid);
  });

  test('a directory that the published client uploads is its own too', async () => {
    const given = join(folder, 'given');
    mkdirSync(join(given, 'inner'), { recursive: true });
    writeFileSync(join(given, 'inner/below.txt'), 'below\n');
    await using client = connectTo(url, workspace);
    await client.call('connect');
    await client.call('copy_to', given, join(workspace, 'copied'), true);
    const file = join(workspace, 'copied/given/inner/below.txt');
    expect(statSync(file).uid).toBe(uid);
    expect((await act('run', { command: `echo more >> ${file} && cat ${file}` })).content).toMatch(
      /^below\s+more$/,
    );
  });

  test('it can gain no rights unless the server was told to let it', async () => {
    expect((await act('run', { command: 'grep NoNewPrivs /proc/self/status' })).content).toMatch(/1$/);
  });

  test('what is not its own it can neither read nor change, by commands or by files', async () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'secret of root\n', { mode: 0o600 });
    expect((await act('run', { command: `cat ${secret}` })).content).toContain('Permission denied');
    expect((await act('read', { path: secret })).content).not.toContain('secret of root');
    expect((await act('run', { command: `kill -9 ${server.child.pid}` })).content).toContain('not permitted');
  });

  test('an account that exists keeps its number, and may use sudo where that is allowed', async () => {
    const other = mkdtempSync(join(folder, 'other-'));
    const again = start(
      [
        'openhands-server',
        '0',
        '--working-dir',
        other,
        '--username',
        name,
        '--user-id',
        '1',
        '--no-enable-browser',
        '--allow-sudo',
      ],
      { env: { SESSION_API_KEY: key } },
    );
    await again.printed('listening on ');
    expect(statSync(other).uid).toBe(uid);
    url = /listening on (\S+)/.exec(again.text())?.[1] ?? '';
    expect((await act('run', { command: 'grep NoNewPrivs /proc/self/status' })).content).toMatch(/0$/);
    // What the image of the original brings.
    writeFileSync(rule, `${name} ALL=(ALL) NOPASSWD: ALL\n`, { mode: 0o440 });
    try {
      const command = { action: 'run', args: { command: 'id -u; sudo -n id -u' } };
      await using client = connectTo(url, other);
      await client.call('connect');
      expect(await client.call('act', command)).toMatchObject({
        content: expect.stringMatching(new RegExp(`^${uid}\\r?\\n0$`)),
        extras: { metadata: { username: name, exit_code: 0 } },
      });
    } finally {
      rmSync(rule);
      again.child.kill('SIGTERM');
      await again.ended;
    }
  });

  test('a name that is none makes no account', async () => {
    const args = ['openhands-server', '0', '--working-dir', workspace, '--username'];
    expect((await workcell([...args, '-x; id', '--user-id', '54999'])).exitCode).not.toBe(0);
    expect((await workcell([...args, name.toUpperCase()])).exitCode).not.toBe(0);
    expect(existsSync(`/home/${name.toUpperCase()}`)).toBe(false);
    expect(execFileSync('getent', ['passwd', name], { encoding: 'utf8' })).toContain(`:${uid}:`);
  });
});
