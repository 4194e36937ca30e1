/** What a cell brings of a person who works in a directory: the name for commits, and the directory's Python. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CreateRuntimeOptions, createRuntime } from '../../src/index.js';
import { workcell } from '../cli/workcell.js';

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-yours-')));
const settings = join(scratch, 'gitconfig');
const before = process.env.GIT_CONFIG_GLOBAL;
let workspace: string;

beforeAll(() => {
  process.env.GIT_CONFIG_GLOBAL = settings;
  const secret = 'hunter2';
  writeFileSync(join(scratch, 'work'), '[user]\n\tname = At Work\n');
  writeFileSync(
    settings,
    [
      `[user]\n\tname = Ada \\"L\\" O\\\\B\n\temail = ada@example.org\n\tsigningkey = ${secret}`,
      `[credential]\n\thelper = store --file ${secret}`,
      `[url "https://${secret}@example.org/"]\n\tinsteadOf = https://example.org/`,
      `[includeIf "gitdir:${scratch}/at-work/"]\n\tpath = work`,
      '',
    ].join('\n'),
  );
});
beforeEach(() => {
  workspace = mkdtempSync(join(scratch, 'workspace-'));
});
afterAll(() => {
  if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
  else process.env.GIT_CONFIG_GLOBAL = before;
  rmSync(scratch, { recursive: true, force: true });
});

type Options = Omit<Extract<CreateRuntimeOptions, { backend: 'sandbox' }>, 'backend'>;

async function inCell(command: string, options: Options = {}): Promise<string> {
  await using runtime = await createRuntime({ backend: 'sandbox', workspace, ...options });
  return (await runtime.run(command)).output.trim();
}

const who = 'git config user.name; git config user.email';
const ada = 'Ada "L" O\\B\nada@example.org';

test('a commit in your directory has your name, and the cell has no other setting of yours', async () => {
  const commit = `git init -q . && git commit -q --allow-empty -m x && git log -1 --format='%an <%ae>'`;
  expect(await inCell(commit)).toBe('Ada "L" O\\B <ada@example.org>');
  expect(await inCell('git config --list --show-origin; cat /etc/gitconfig')).not.toContain('hunter2');
  expect(await inCell(who, { workspace: { from: workspace, mode: 'overlay' } })).toBe(ada);
  // A keeper has not your variables.
  expect(await inCell(who, { keeper: true })).toBe(ada);
});

test('settings in the cell and in the repository stand above it', async () => {
  const local = 'git init -q . && git config user.name Repo';
  expect(await inCell(`git config --global user.email new@example.org; ${local}; ${who}`)).toBe(
    'Repo\nnew@example.org',
  );
});

test('a directory of its own, or a copy, says nothing of you', async () => {
  for (const place of [undefined, { mode: 'empty' }, { from: workspace, mode: 'copy' }] as const)
    expect(await inCell(`${who}; echo none`, { workspace: place })).toBe('none');
});

test('the directory decides which conditional parts count', async () => {
  const atWork = join(scratch, 'at-work');
  mkdirSync(atWork);
  execFileSync('git', ['init', '-q', atWork]);
  expect(await inCell('git config user.name', { workspace: atWork })).toBe('At Work');
});

test('a virtual environment in the workspace is the python, and the kernel where it can be', async () => {
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', '--system-site-packages', '.venv'], {
    cwd: workspace,
  });
  expect(await inCell('python3 -c "import sys; print(sys.prefix)"; echo $VIRTUAL_ENV')).toBe(
    '/workspace/.venv\n/workspace/.venv',
  );
  const kernels = join(workspace, '.venv/share/jupyter/kernels/python3');
  mkdirSync(kernels, { recursive: true });
  const spec = {
    argv: ['python', '-m', 'ipykernel_launcher', '-f', '{connection_file}'],
    language: 'python',
  };
  writeFileSync(join(kernels, 'kernel.json'), JSON.stringify(spec));
  await using runtime = await createRuntime({ backend: 'sandbox', workspace });
  const { text } = await runtime.runCode('import sys; sys.prefix');
  expect(text).toContain('/workspace/.venv');
});

test('an environment whose Python is not in the cell changes nothing, and shows nothing more', async () => {
  const bin = join(workspace, '.venv/bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(workspace, '.venv/pyvenv.cfg'), `home = ${scratch}\n`);
  writeFileSync(join(scratch, 'python3'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync(join(scratch, 'python3'), join(bin, 'python3'));
  expect(
    await inCell(`python3 -c "import sys; print(sys.prefix)"; echo $VIRTUAL_ENV; ls ${scratch} 2>&1`),
  ).toMatch(/^\/usr\n\nls: cannot access/);
});

test('git verbs run no program of a virtual environment that a repository brings', async () => {
  const inWorkspace = { cwd: workspace };
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', '.venv'], inWorkspace);
  for (const name of ['git', 'env', 'sh'])
    writeFileSync(join(workspace, '.venv/bin', name), '#!/bin/bash\necho "$0" >>/workspace/started\n', {
      mode: 0o755,
    });
  execFileSync('git', ['init', '-q'], inWorkspace);
  await using runtime = await createRuntime({ backend: 'sandbox', workspace });
  const { files } = await runtime.git.status();
  expect(files.some(({ path }) => path.startsWith('.venv/'))).toBe(true);
  expect(existsSync(join(workspace, 'started'))).toBe(false);
  // A command of the agent gets what the environment has.
  await runtime.run('git status');
  expect(readFileSync(join(workspace, 'started'), 'utf8')).toBe('/workspace/.venv/bin/git\n');
});

test('doctor says what a cell with this directory will have', async () => {
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', '.venv'], { cwd: workspace });
  const env = { GIT_CONFIG_GLOBAL: settings };
  const { stdout } = await workcell(['doctor', '--json'], { cwd: workspace, env });
  expect(JSON.parse(stdout).cell).toMatchObject({
    'git identity': 'Ada "L" O\\B, ada@example.org',
    'python of .venv': '/workspace/.venv',
  });
});
