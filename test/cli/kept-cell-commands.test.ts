/** `cp`, `ps`, `logs`, `top`, `forward` and `open`: work in a kept cell that goes on afterwards. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, startOnTerminal, workcell } from './workcell.js';

let env: Record<string, string>;
let here: string;
let cell: string;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kept-commands-'));
  env = { XDG_RUNTIME_DIR: directory, DOCKER_HOST: `unix://${directory}/none.sock` };
  here = join(directory, 'here');
  mkdirSync(here);
  const kept = await cli('run', '--backend', 'sandbox', '--keep-alive', 'mkdir there; mkfifo gate end');
  cell = /\b[0-9a-f]{16}\b/.exec(kept.stderr)?.[0] ?? kept.stderr;
});
afterAll(async () => {
  await cli('cells', 'stop', cell);
  rmSync(env.XDG_RUNTIME_DIR as string, { recursive: true });
});

const cli = (...words: string[]) => workcell(words, { env, cwd: here });
const inCell = async (command: string) => (await cli('run', '--attach', cell, command)).stdout;

test('files and directories go in and come out, with their modes', async () => {
  writeFileSync(join(here, 'tool.sh'), 'echo hi\n', { mode: 0o755 });
  mkdirSync(join(here, 'tree/deep'), { recursive: true });
  writeFileSync(join(here, 'tree/deep/leaf'), 'leaf');
  expect(await cli('cp', 'tool.sh', `${cell}:there`)).toMatchObject({
    stdout: '1 file, 8 B\n',
    exitCode: 0,
  });
  expect(await cli('cp', 'tree', `${cell.slice(0, 8)}:`)).toMatchObject({
    stdout: '1 file, 4 B\n',
    stderr: '',
  });
  expect(await inCell('there/tool.sh; cat tree/deep/leaf; cp -r tree made; echo new > made/file')).toBe(
    'hi\nleaf',
  );
  expect(await cli('cp', `${cell}:there/tool.sh`, 'back.sh')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(statSync(join(here, 'back.sh')).mode & 0o777).toBe(0o755);
  expect(await cli('cp', `${cell}:made`, '.')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(join(here, 'made/file'), 'utf8')).toBe('new\n');
  expect(readFileSync(join(here, 'made/deep/leaf'), 'utf8')).toBe('leaf');
});

test('what comes out of a cell stays in its target', async () => {
  const outside = join(env.XDG_RUNTIME_DIR as string, 'outside');
  mkdirSync(outside);
  mkdirSync(join(here, 'target/bad'), { recursive: true });
  await inCell(`rm -rf bad; mkdir bad; ln -s ${outside} bad/way; ln -s ../.. bad/up`);
  await cli('cp', `${cell}:bad`, 'target');
  await inCell('rm -rf bad; mkdir -p bad/way; echo x > bad/way/escaped');
  await cli('cp', `${cell}:bad`, 'target');
  expect(existsSync(join(outside, 'escaped'))).toBe(false);
  await inCell('mkdir -p there/..hidden; echo x > there/stolen');
  expect(await cli('cp', `${cell}:there/../there/.`, 'into')).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(here, 'into/stolen'), 'utf8')).toBe('x\n');
});

test.each([
  ['a dangling link', 'dangling', 'file', 66, 'is a symbolic link to nothing'],
  ['a dangling link of that name in the directory', '.', 'dangling', 66, 'is a symbolic link to nothing'],
  ['a loop of links', 'loop', 'file', 66, 'too many symbolic links'],
  ['a file, with a directory', 'plain', 'folder', 66, 'Cannot copy a directory to'],
  [
    'a path through a file, with a directory',
    'plain/new',
    'folder',
    66,
    'a part of the path is not a directory',
  ],
  ['a path through a file, with a file', 'plain/new', 'file', 66, 'a part of the path is not a directory'],
  ['a directory that is not there', 'absent/new', 'file', 66, 'there is no such file or directory'],
])('copying out to %s is refused, and says why', async (_what, to, from, exitCode, message) => {
  const place = mkdtempSync(join(here, 'targets-'));
  symlinkSync('nowhere', join(place, 'dangling'));
  symlinkSync('loop', join(place, 'loop'));
  writeFileSync(join(place, 'plain'), 'kept');
  await inCell('mkdir -p from/folder; echo x > from/file; echo x > from/dangling; echo x > from/folder/file');
  const result = await workcell(['cp', `${cell}:from/${from}`, to], { env, cwd: place });
  expect(result).toMatchObject({ stdout: '', exitCode });
  expect(result.stderr).toContain(message);
  expect(readdirSync(place).sort()).toEqual(['dangling', 'loop', 'plain']);
  expect(readFileSync(join(place, 'plain'), 'utf8')).toBe('kept');
});

test('mistakes are told', async () => {
  const neither = await cli('cp', 'a', 'b');
  expect(neither).toMatchObject({ exitCode: 64 });
  expect(neither.stderr).toContain('Neither of "a" and "b" is in a cell');
  expect((await cli('cp', 'absent', `${cell}:`)).stderr).toContain('There is no absent on this machine');
  expect((await cli('cp', `${cell}:absent`, '.')).exitCode).toBe(66);
  expect((await cli('forward', cell, 'http')).stderr).toContain('"http" is no port');
  expect((await cli('open', cell, '70000')).stderr).toContain('"70000" is no port');
  expect((await cli('ps', 'zzzz')).stderr).toContain('There is no cell "zzzz"');
});

test('background processes are listed, and ports are forwarded until Ctrl-C', async () => {
  await cli('action', 'start_process', '{"argv":["sleep","1000"]}', '--attach', cell);
  expect((await cli('ps', cell)).stdout).toMatch(
    /PROCESS +PID +STATUS +AGE +COMMAND\n.* running +\d+ s +sleep 1000\n/,
  );
  const [listed] = JSON.parse((await cli('ps', cell, '--json')).stdout) as { argv: string[] }[];
  expect(listed?.argv).toEqual(['sleep', '1000']);

  const server = `
import http.server
s = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler)
open("ready", "w").close()
s.serve_forever()`;
  writeFileSync(join(here, 'server.py'), server);
  await cli('cp', 'server.py', `${cell}:`);
  await inCell('echo page > index.html; mkfifo ready; (python3 server.py >/dev/null 2>&1 &); cat ready');
  // Whoever writes to the working directory does not choose the program that opens the page.
  writeFileSync(join(here, 'xdg-open'), '#!/bin/sh\n: > chosen\n', { mode: 0o755 });
  const path = { ...env, PATH: `.::${here}:${process.env.PATH}` };
  const opened = start(['open', cell, '8000', '\\\\elsewhere/'], { env: path, cwd: here });
  await opened.printed('\n');
  expect(opened.text()).toMatch(/^http:\/\/127\.0\.0\.1:/);
  opened.child.kill('SIGINT');
  expect((await opened.ended).exitCode).toBe(130);
  expect(existsSync(join(here, 'chosen'))).toBe(false);
  const page = start(['open', cell, '8000', '//index.html?x=1', '--no-browser'], { env, cwd: here });
  await page.printed('\n');
  expect(page.text()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/index\.html\?x=1\n$/);
  expect(await (await fetch(page.text().trim())).text()).toBe('page\n');
  page.child.kill('SIGINT');
  expect((await page.ended).exitCode).toBe(130);

  const forward = start(['forward', cell, '8000'], { env, cwd: here });
  await forward.printed('of the cell');
  const address = /127\.0\.0\.1:\d+/.exec(forward.text())?.[0];
  expect(await (await fetch(`http://${address}/`)).text()).toBe('page\n');
  forward.child.kill('SIGINT');
  expect((await forward.ended).exitCode).toBe(130);
  await expect(fetch(`http://${address}/`)).rejects.toThrow();
  expect(await inCell('cat index.html')).toBe('page\n');
});

test('what a process writes is printed: so far, and until it ends', async () => {
  const command = 'echo out; echo err >&2; echo > gate; read -r x < end; echo last';
  const started = await cli('action', 'start_process', JSON.stringify({ command }), '--attach', cell);
  const { id } = JSON.parse(started.stdout) as { id: string };
  await inCell('cat gate');
  expect(await cli('logs', cell, id)).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 0 });
  const following = start(['logs', cell, id.slice(0, 8), '--follow'], { env, cwd: here });
  await following.printed('out\n');
  // Nobody else can attach while it follows, so Ctrl-C leaves the process alone and another command lets it end.
  following.child.kill('SIGINT');
  expect((await following.ended).exitCode).toBe(130);
  await inCell('echo > end');
  expect(await cli('logs', cell, id, '--follow')).toEqual({
    stdout: 'out\nlast\n',
    stderr: 'err\n',
    exitCode: 0,
  });
  const several = await cli('logs', cell);
  expect(several).toMatchObject({ exitCode: 66 });
  expect(several.stderr).toContain('The cell has 2 background processes');
});

test('what each kept cell uses is shown', async () => {
  expect((await cli('top')).stdout).toMatch(
    /^CELL +STATUS +CPU TIME +MEMORY +DISK +PROCESSES +UP +IDLE\n[0-9a-f]{16} +running +\d+\.\d s +[\d.]+ [KMG]iB +/,
  );
  const [used] = JSON.parse((await cli('top', cell.slice(0, 6), '--json')).stdout) as {
    id: string;
    stats: object;
  }[];
  expect(used).toMatchObject({ id: cell, stats: { processes: expect.any(Number) } });
});

test('looking neither needs the cell for itself nor writes into its record', async () => {
  const holder = start(['forward', cell, '8000'], { env, cwd: here });
  await holder.printed('of the cell');
  const before = (await cli('events', cell, '--json')).stdout;
  expect(before).not.toBe('');
  const looked = await cli('top', '--json', '--backend', 'sandbox');
  expect(looked).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(looked.stdout)).toMatchObject([{ id: cell, stats: { processes: expect.any(Number) } }]);
  expect((await cli('events', cell, '--json')).stdout).toBe(before);
  holder.child.kill('SIGINT');
  expect((await holder.ended).exitCode).toBe(130);
});

test('Ctrl-C ends a look at a cell that does not answer', async () => {
  const silent = join(here, 'silent.mjs');
  const shape = '{ shape: {}, safeParse: (data) => ({ success: true, data }) }';
  writeFileSync(
    silent,
    `const shape = ${shape};
const attach = (id, place, { signal }) =>
  new Promise((_, reject) => {
    console.log('attaching');
    setInterval(() => {}, 1000);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
const list = () => [{ id: 'a1', status: 'running', backend: ${JSON.stringify(silent)}, place: {} }];
export default { type: 'silent', options: shape, place: shape, probe() {}, start() {}, attach, list };\n`,
  );
  const top = start(['top', '--watch', '--backend', silent], { env, cwd: here });
  await top.printed('attaching');
  top.child.kill('SIGINT');
  expect(await top.ended).toMatchObject({ exitCode: 130, stderr: '' });
});

test('a long copy tells on a terminal how far it is, and at its end how much it was', async () => {
  writeFileSync(join(here, 'long'), '');
  truncateSync(join(here, 'long'), 200 * 1024 ** 2);
  const copy = startOnTerminal(['cp', 'long', `${cell}:`], { env, cwd: here });
  const { output, exitCode } = await copy.ended;
  expect(exitCode).toBe(0);
  expect(output).toMatch(/Copying: \d+(\.\d)? [KM]iB of 200 MiB/);
  expect(output).toContain('\r\x1b[K1 file, 200 MiB');
});

test('a port of this machine that is taken is told', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const refused = await cli('forward', cell, `${port}:8000`);
  expect(refused.stderr).toContain(`Something else listens at 127.0.0.1:${port}`);
  taken.close();
});
