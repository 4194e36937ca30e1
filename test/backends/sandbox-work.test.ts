/** What people do all day, in a sandbox without a network. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';

const slow = { timeout: 180_000 };

function makeDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'sandbox-work-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function put(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

async function openSandbox(workspace: string, readOnly: string[] = []): Promise<Runtime> {
  const runtime = await createRuntime({ backend: 'sandbox', config: false, workspace, readOnly });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** Fails with the output, which tells why, unless every command succeeds. */
async function succeed(runtime: Runtime, ...commands: string[]): Promise<string> {
  let last = '';
  for (const command of commands) {
    const { exitCode, output } = await runtime.run(command, { timeoutMs: 120_000 });
    expect({ command, exitCode, output }).toMatchObject({ exitCode: 0 });
    last = output;
  }
  return last;
}

test('git clones a local repository, commits and pushes back', async () => {
  const workspace = makeDirectory();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: workspace,
    });
  git('init', '--quiet', 'source');
  put(workspace, { 'source/README': 'first\n' });
  git('-C', 'source', 'add', '.');
  git('-C', 'source', 'commit', '--quiet', '--message', 'start');
  git('clone', '--quiet', '--bare', 'source', 'origin.git');
  const runtime = await openSandbox(workspace);
  await succeed(
    runtime,
    'git clone origin.git copy',
    'cd copy && git config user.name Agent && git config user.email agent@example.com',
    'echo second >> README && git commit --all --message "add a line"',
    'git push origin HEAD',
  );
  expect(String(git('-C', 'origin.git', 'log', '--format=%an: %s'))).toBe('Agent: add a line\nAda: start\n');
});

test('npm ci installs from a warm cache and npm test passes', slow, async () => {
  const workspace = makeDirectory();
  const outside = makeDirectory();
  put(outside, {
    'sum/package.json': JSON.stringify({ name: 'tiny-sum', version: '1.0.0', main: 'index.js' }),
    'sum/index.js': 'module.exports = (a, b) => a + b;\n',
  });
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--cache', join(outside, 'cache'), '--offline'], {
      cwd: outside,
      stdio: 'pipe',
    });
  npm('pack', './sum');
  npm('cache', 'add', './tiny-sum-1.0.0.tgz');
  put(workspace, projectUsing(readFileSync(join(outside, 'tiny-sum-1.0.0.tgz'))));
  const runtime = await openSandbox(workspace, [join(outside, 'cache')]);
  await succeed(runtime, `npm ci --offline --cache ${join(outside, 'cache')} --logs-max 0`);
  expect(await succeed(runtime, 'npm test')).toMatch(/pass 1\b/);
});

function projectUsing(tarball: Buffer): Record<string, string> {
  const described = {
    name: 'project',
    version: '1.0.0',
    dependencies: { 'tiny-sum': '1.0.0' },
    scripts: { test: 'node --test' },
  };
  const dependency = {
    version: '1.0.0',
    resolved: 'https://packages.invalid/tiny-sum-1.0.0.tgz',
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  };
  return {
    'package.json': JSON.stringify(described),
    'package-lock.json': JSON.stringify({
      ...described,
      lockfileVersion: 3,
      packages: { '': described, 'node_modules/tiny-sum': dependency },
    }),
    'sum.test.js':
      "require('node:test')('sums', () => require('node:assert').equal(require('tiny-sum')(6, 36), 42));\n",
  };
}

test('python makes a virtual environment with pip and runs in it', slow, async () => {
  const runtime = await openSandbox(makeDirectory());
  await succeed(runtime, 'python3 -m venv environment', '. environment/bin/activate');
  expect(await succeed(runtime, 'python -c "import sys; print(sys.prefix)"')).toBe(
    '/workspace/environment\n',
  );
  expect(await succeed(runtime, 'pip --version')).toContain('/workspace/environment/');
});

test('gcc compiles a program that runs', async () => {
  const workspace = makeDirectory();
  put(workspace, { 'hello.c': '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' });
  const runtime = await openSandbox(workspace);
  await succeed(runtime, 'gcc -O2 -Wall -Werror -o hello hello.c');
  expect(await succeed(runtime, './hello')).toBe('hello\n');
});

test('a server in the cell is reached through a forwarded port', async () => {
  const workspace = makeDirectory();
  put(workspace, {
    'server.mjs': `import { createServer } from 'node:http';
      createServer(async (request, response) => {
        let length = 0;
        for await (const chunk of request) length += chunk.length;
        response.end(request.url === '/large' ? 'x'.repeat(3_000_000) : request.method + ' ' + length);
      }).listen(8080, '127.0.0.1');`,
  });
  const runtime = await openSandbox(workspace);
  await runtime.processes.start(['node', 'server.mjs']);
  await using forwarded = await runtime.ports.forward(8080);
  const ask = async (path: string, init?: RequestInit) => (await fetch(forwarded.url + path, init)).text();
  await expect.poll(() => ask('/').catch(() => 'not yet'), { timeout: 20_000 }).toBe('GET 0');
  expect(await ask('/', { method: 'POST', body: 'y'.repeat(2_000_000) })).toBe('POST 2000000');
  const many = await Promise.all(Array.from({ length: 8 }, () => ask('/large')));
  expect(many.map(({ length }) => length)).toEqual(new Array(8).fill(3_000_000));
});

test('tmux keeps a session that is driven from a shell', async () => {
  const runtime = await openSandbox(makeDirectory());
  await succeed(
    runtime,
    'tmux new-session -d -s work -x 80 -y 24',
    "tmux send-keys -t work 'echo $((6 * 7)) > result; tmux wait-for -S written' Enter",
    'tmux wait-for written',
  );
  expect(await succeed(runtime, 'tmux capture-pane -p -t work')).toContain('echo $((6 * 7))');
  expect((await runtime.read('result')).content).toBe('42\n');
  await succeed(runtime, 'tmux kill-server');
});

test.each([
  ['the first terminal of a cell', 0],
  ['a further terminal', 1],
])('vim edits a file on %s', async (_name, shells) => {
  const workspace = makeDirectory();
  put(workspace, { 'note.txt': 'one\ntwo\n' });
  const runtime = await openSandbox(workspace);
  for (let index = 0; index < shells; index++) await runtime.run('true');
  const terminal = await runtime.terminals.open({
    argv: ['vim', '-N', '-u', 'NONE', 'note.txt'],
    columns: 80,
    rows: 24,
  });
  let screen = '';
  const reading = (async () => {
    for await (const chunk of terminal.output) screen += Buffer.from(chunk).toString('latin1');
  })();
  await expect.poll(() => screen, { timeout: 20_000 }).toMatch(/2 lines|2L, 8[BC]/);
  terminal.resize(100, 30);
  terminal.write('Gothree from vim\x1b');
  await expect.poll(() => screen, { timeout: 20_000 }).toContain('three from vim');
  terminal.write(':wq\r');
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: null });
  await reading;
  expect(readFileSync(join(workspace, 'note.txt'), 'utf8')).toBe('one\ntwo\nthree from vim\n');
});

test('a search of a large tree goes through it with the ripgrep of the cell', async () => {
  const workspace = makeDirectory();
  const names = Array.from({ length: 600 }, (_, index) => `many/${String(index).padStart(3, '0')}.txt`);
  put(
    workspace,
    Object.fromEntries(names.map((name) => [name, name.endsWith('9.txt') ? 'needle\n' : '-\n'])),
  );
  put(workspace, {
    '.gitignore': 'left-out/\n',
    'left-out/x.txt': 'needle\n',
    'many/z/last.txt': 'a needle\n',
  });
  const runtime = await openSandbox(workspace);
  const globbed = await runtime.execute({ action: 'glob', pattern: '*.txt' });
  expect(globbed).toMatchObject({ paths: [...names, 'many/z/last.txt'], truncated: false, program: 'rg' });
  const inner = await runtime.execute({ action: 'grep', pattern: '^a? ?needle$', path: 'many' });
  expect(inner).toMatchObject({ matches: { length: 61 }, truncated: false, program: 'rg' });
  // Anybody in the cell may replace that program; the search handles a few files without it.
  expect(await runtime.execute({ action: 'grep', pattern: 'needle', path: 'many/z' })).not.toHaveProperty(
    'program',
  );
});
