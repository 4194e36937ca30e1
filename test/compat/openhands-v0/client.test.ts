/** The published client of OpenHands 0.62 works with the server, which starts as clients start the original. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start } from '../../cli/workcell.js';
import { type PythonClient, startPythonClient } from '../openhands-python/client.js';

const key = 'a-key-for-the-tests-only';
const base = realpathSync(mkdtempSync(join(tmpdir(), 'openhands-client-')));
const directory = join(base, 'workspace');
const at = (name: string) => join(directory, name);
function put(path: string, content: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

// What the client kept there before the container restarted.
put(join(base, '.bashrc'), 'export BEFORE="the restart"\nalias hook=false\nPROMPT_COMMAND=exit\n');

const words = put(
  join(base, 'messages.json'),
  JSON.stringify({ 'bash.nothing_to_fetch': 'Nothing is running, said in other words.' }),
);

// Above those that systems give to whoever takes any.
const vscodePort = 61_000 + randomInt(4000);
const server = start(
  [
    ...['openhands-server', '0', '--working-dir', directory, '--messages', words],
    ...['--plugins', 'agent_skills', 'jupyter', 'vscode'],
  ],
  { env: { SESSION_API_KEY: key, HOME: base, TMPDIR: base, VSCODE_PORT: String(vscodePort) } },
);
let url: string;
let client: PythonClient;
beforeAll(async () => {
  await server.printed('listening on');
  url = /http:\S+/.exec(server.text())?.[0] ?? '';
  const script = new URL('client.py', import.meta.url);
  client = startPythonClient({ script, url, key, directory });
  await client.call('connect');
}, 120_000);
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  server.child.kill('SIGTERM');
  await server.ended;
  rmSync(base, { recursive: true, force: true });
});

/** An observation as the client's own classes hold it, written out again by them. */
interface Seen {
  readonly class: string;
  readonly content: string;
  readonly extras: Record<string, unknown>;
  readonly text: string;
}

async function act(action: string, args: Record<string, unknown>, timeout?: number): Promise<Seen> {
  const event = { action, args, ...(timeout !== undefined && { timeout }) };
  return (await client.call('act', event)) as Seen;
}

const run = (command: string, args: Record<string, unknown> = {}, timeout?: number) =>
  act('run', { command, ...args }, timeout);
const edit = (command: string, path: string, args: Record<string, unknown> = {}) =>
  act('edit', { command, path, impl_source: 'oh_aci', ...args });

test('its start-up sets variables in shell, start-up file and kernel, and who commits', async () => {
  const { content } = await run('echo "$GREETING"; git config --global user.name; tail -n 1 ~/.bashrc');
  expect(content.split('\n')).toEqual(['hi "there"', 'openhands', 'export GREETING=hi "there"']);
  const cell = await act('run_ipython', { code: 'import os; print(os.environ["GREETING"])' });
  expect(cell).toMatchObject({ class: 'IPythonRunCellObservation', success: true });
  expect(cell.content).toMatch(/^hi "there"\n/);
});

describe('commands', () => {
  test('have their output, exit code and place', async () => {
    expect(await run('mkdir deep && cd deep; (exit 3)')).toMatchObject({
      class: 'CmdOutputObservation',
      content: '',
      success: false,
      extras: { hidden: false, metadata: { exit_code: 3, working_dir: at('deep'), prefix: '' } },
    });
    const { text } = await run('cd ..; echo back');
    expect(text).toContain('back');
    expect(text).toContain(`[Current working directory: ${directory}]`);
    expect(text).toContain('[Command finished with exit code 0]');
  });

  test('go on after a timeout, take input and keys', async () => {
    const running = { exit_code: -1 };
    expect(await run('cat', {}, 1)).toMatchObject({ success: false, extras: { metadata: running } });
    expect(await run('hello', { is_input: true }, 1)).toMatchObject({
      content: 'hello',
      extras: { metadata: { ...running, prefix: expect.stringContaining('previous') } },
    });
    expect(await run('echo other', {}, 1)).toMatchObject({ extras: { metadata: running } });
    expect(await run('C-c', { is_input: true })).toMatchObject({ extras: { metadata: { exit_code: 130 } } });
    expect((await run('')).content).toBe('Nothing is running, said in other words.');
  });

  test('find the variables that were set before a restart, also in a shell that had to be replaced', async () => {
    expect((await run('echo "$BEFORE"')).content).toBe('the restart');
    await run('exit');
    expect((await run('echo "$BEFORE"')).content).toBe('the restart');
  });

  test('show the jobs that they start', async () => {
    const { content, extras } = await run('sleep 60 & sleep 61 & echo started');
    expect(content).toMatch(/^\[1\] \d+\n\[2\] \d+\nstarted$/);
    const pid = Number(/\[2\] (\d+)/.exec(content)?.[1]);
    expect(extras).toMatchObject({ metadata: { pid } });
    expect((await run('kill %1 %2; echo again')).content).not.toMatch(/^\[\d\] \d+$/m);
  });

  test('say that the beginning of a long output is gone', async () => {
    const { extras } = await run('seq 1 12000');
    expect(extras).toMatchObject({ metadata: { prefix: expect.stringContaining('12000 lines') } });
    expect(await run('seq 1 5000')).toMatchObject({ extras: { metadata: { prefix: '' } } });
  });

  test('find a page for pictures and documents, which nobody else finds', async () => {
    const address = (await run('ls -l $TMPDIR/oh-server-url | cut -c1-10; cat $TMPDIR/oh-server-url'))
      .content;
    const [mode, viewer = ''] = address.split('\n');
    expect(mode).toBe('-rw-------');
    expect(viewer).toMatch(/^http:\/\/localhost:\d+\//);
    const picture = put(at('dot.png'), 'no real picture');
    const page = await fetch(`${viewer}/view?path=${picture}`);
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('data:image/png;base64,'),
    ]);
    expect((await fetch(`${viewer}/view?path=${at('absent.png')}`)).status).toBe(404);
    expect((await fetch(`${new URL(viewer).origin}/view?path=${picture}`)).status).toBe(404);
  });

  test('one at a time, hidden ones and those in another place', async () => {
    expect(await run('echo a\necho b')).toMatchObject({ class: 'ErrorObservation' });
    expect(await run('echo unseen', { hidden: true })).toMatchObject({ extras: { hidden: true } });
    expect((await run('pwd', { is_static: true, cwd: '/usr' })).content).toBe('/usr');
    const long = await run('seq 1 20000');
    expect(long.content.length).toBeLessThan(30_100);
    expect(long.content).toMatch(/^1\n2\n/);
    expect(long.content).toMatch(/\n20000$/);
    expect((await run('sleep 5', { blocking: true }, 1)).extras).toMatchObject({
      metadata: { exit_code: -1 },
    });
    await run('C-c', { is_input: true });
  });

  test('what awaits a person is not run', async () => {
    expect(await run('touch never', { confirmation_state: 'rejected' })).toMatchObject({
      class: 'UserRejectObservation',
    });
    expect(await run('touch never', { confirmation_state: 'awaiting_confirmation' })).toMatchObject({
      class: 'NullObservation',
    });
    expect(await run('ls never')).toMatchObject({ success: false });
  });
});

describe('files', () => {
  test('are written and read', async () => {
    const path = at('notes/plan.txt');
    expect(await act('write', { path, content: 'one\ntwo' })).toMatchObject({
      class: 'FileWriteObservation',
      extras: { path },
    });
    await act('write', { path, content: 'ONE', start: 0, end: 1 });
    expect(await act('read', { path })).toMatchObject({
      class: 'FileReadObservation',
      content: 'ONE\ntwo\n',
      extras: { path, impl_source: 'default' },
    });
    expect(await act('read', { path: 'notes' })).toMatchObject({ class: 'ErrorObservation' });
    expect((await act('read', { path: 'none' })).content).toMatch(/^File not found/);
  });

  test('the editor creates, changes, inserts, takes back and shows', async () => {
    const path = at('edited.py');
    const file_text = 'a = 1\nb = 2\n';
    expect(await edit('create', path, { file_text })).toMatchObject({ class: 'FileEditObservation' });
    const changed = await edit('str_replace', path, { old_str: 'a = 1', new_str: 'a = 10' });
    expect(changed.extras).toMatchObject({ old_content: 'a = 1', new_content: 'a = 10' });
    expect(changed.text).toContain('     1\ta = 10\n');
    await edit('insert', path, { insert_line: 1, new_str: 'c = 3' });
    expect(readFileSync(path, 'utf8')).toBe('a = 10\nc = 3\nb = 2\n');
    await edit('undo_edit', path);
    expect(await edit('view', path)).toMatchObject({
      class: 'FileEditObservation',
      content: expect.stringMatching(/ {5}1\ta = 10\n {5}2\tb = 2\n/),
    });
    const part = await act('read', { path, impl_source: 'oh_aci', view_range: [2, 2] });
    expect(part).toMatchObject({ class: 'FileReadObservation', extras: { impl_source: 'oh_aci' } });
    expect(part.content).toMatch(/\n {5}2\tb = 2\n$/);
    expect((await edit('create', path, { file_text })).content).toMatch(/^ERROR:\n/);
  });

  test('go in and out, one by one and as directories', async () => {
    const given = join(base, 'given');
    put(join(given, 'top.txt'), 'top');
    put(join(given, 'inner/below.txt'), 'below');
    await client.call('copy_to', given, at('copied'), true);
    await client.call('copy_to', join(given, 'top.txt'), at('single'), false);
    expect(await client.call('list_files', at('copied/given'))).toEqual(['inner/', 'top.txt']);
    expect(await client.call('list_files', 'single')).toEqual(['top.txt']);
    expect(await client.call('list_files')).toEqual(expect.arrayContaining(['copied/', 'single/']));
    expect(await client.call('download', at('copied'))).toEqual({
      'given/inner/below.txt': 'below',
      'given/top.txt': 'top',
    });
    await expect(client.call('copy_to', given, 'relative', true)).rejects.toMatchObject({
      name: 'RequestHTTPError',
      message: expect.stringContaining('absolute'),
    });
  });
});

test('a cell has pictures, its interpreter and its failures', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const code = `import base64; from IPython.display import Image, display; display(Image(base64.b64decode("${png}")))`;
  const drawn = await act('run_ipython', { code });
  expect(drawn.extras.image_urls).toEqual([`data:image/png;base64,${png}`]);
  expect(drawn.content).toContain('[Jupyter Python interpreter:');
  expect((await act('run_ipython', { code: '1 / 0' })).content).toContain('ZeroDivisionError');
});

test('changes and branch of a repository, for which the client brings its scripts', async () => {
  put(at('repository/kept'), 'before\n');
  const git = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...git, 'commit', '-qm', 'first'],
  ])
    execFileSync('git', args, { cwd: at('repository') });
  put(at('repository/kept'), 'after\n');
  put(at('repository/new'), 'new\n');
  expect(await client.call('get_workspace_branch', 'repository')).toBe('main');
  expect(await client.call('get_git_changes', at('repository'))).toEqual(
    expect.arrayContaining([{ status: 'A', path: 'new' }, expect.objectContaining({ path: 'kept' })]),
  );
  expect(await client.call('get_git_diff', at('repository/kept'), at('repository'))).toMatchObject({
    modified: 'after',
  });
});

test('servers of tools are named, found and called', async () => {
  const everything = fileURLToPath(
    import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  );
  const tools = { name: 'everything', command: 'node', args: [everything, 'stdio'] };
  expect(await client.call('add_mcp_servers', [tools])).toEqual([`${url}/mcp/sse`]);
  const called = (await client.call('call_tool', 'echo', { message: 'hi' })) as { content: string };
  expect(called).toMatchObject({ class: 'MCPObservation', extras: { name: 'echo' } });
  expect(JSON.parse(called.content)).toMatchObject({ content: [{ text: 'Echo: hi' }], isError: false });
});

test('the browser shows pages', async () => {
  const pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<h1>Shop</h1><a href="/more">more</a>');
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const page = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  const seen = await act('browse', { url: page });
  expect(seen).toMatchObject({ class: 'BrowserOutputObservation', extras: { url: page, error: false } });
  expect(seen.text).toContain('# Shop');
  const acted = await act('browse_interactive', { browser_actions: 'noop(0)' });
  expect(acted.content).toContain("link 'more'");
  pages.close();
});

test('the token of the editor is given', async () => {
  expect(await client.call('get_vscode_token')).toMatch(/^[0-9a-f]{64}$/);
});

test('the editor counts hidden entries, shows an empty file and knows an empty old_str', async () => {
  put(at('some/.one'), '');
  put(at('some/.two/x'), '');
  const empty = put(at('some/empty'), '');
  const full = put(at('some/full'), 'a\nb\n');
  for (const path of [at('some'), `${at('some')}/`])
    expect((await act('read', { path, impl_source: 'oh_aci' })).content).toMatch(/\b2 hidden/);
  expect((await edit('view', empty)).content).toMatch(/\n {5}1\t\n/);
  expect((await edit('str_replace', full, { old_str: '', new_str: 'x' })).content).toMatch(
    /more than once.*1, 2, 3/,
  );
  expect((await edit('str_replace', empty, { old_str: '', new_str: 'x' })).content).toMatch(/\n {5}1\tx\n/);
  expect(readFileSync(empty, 'utf8')).toBe('x');
});
