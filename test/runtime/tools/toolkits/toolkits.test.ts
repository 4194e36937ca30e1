/** The toolkits as they are, on this machine. */
import { execFileSync } from 'node:child_process';
import {
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
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundleEntries } from '../../../../src/runtime/tools/bundle-tools.js';
import type { FunctionTool } from '../../../../src/runtime/tools/function-tool.js';
import type { openKit } from '../../../../src/runtime/tools/inside/open-kit.js';
import { loadTools } from '../../../../src/runtime/tools/load-tools.js';
import { codeToolkit } from '../../../../src/runtime/tools/toolkits/code-toolkit.js';
import { filesToolkit } from '../../../../src/runtime/tools/toolkits/files-toolkit.js';
import { gitToolkit } from '../../../../src/runtime/tools/toolkits/git-toolkit.js';
import { mathToolkit } from '../../../../src/runtime/tools/toolkits/math-toolkit.js';
import { searchToolkit } from '../../../../src/runtime/tools/toolkits/search-toolkit.js';
import { terminalToolkit } from '../../../../src/runtime/tools/toolkits/terminal-toolkit.js';
import { pathMatcher } from '../../../../src/runtime/tools/toolkits/toolkit-glob.js';

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'toolkit-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function caller(tools: FunctionTool[]) {
  return (name: string, input: object = {}, context = {}) => {
    const found = tools.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}.`);
    return found.execute(input, context) as Promise<never>;
  };
}

test.each(['code', 'files', 'git', 'math', 'search', 'terminal'])(
  'workcell/toolkits/%s is an entry point that can be shipped',
  async (name) => {
    expect((await loadTools(`workcell/toolkits/${name}`)).length).toBeGreaterThan(0);
  },
);

test('code runs from a bundle, which holds the programs of the interpreters', async () => {
  const entry = { shown: 'code', module: 'workcell/toolkits/code' };
  const file = join(folder(), 'kit.mjs');
  writeFileSync(file, await bundleEntries([entry], process.cwd()));
  const { open }: { open: () => ReturnType<typeof openKit> } = await import(pathToFileURL(file).href);
  const run = (await open()).get('execute_code');
  const context = { progress() {}, signal: new AbortController().signal };
  for (const language of ['python', 'javascript']) {
    const { json = '' } = (await run?.({ language, code: '6 * 7' }, context)) ?? {};
    expect(JSON.parse(json)).toMatchObject({ value: '42', error: null });
  }
});

test("math by CAMEL's names, with its rounding", async () => {
  const call = caller(mathToolkit({ names: 'camel' }));
  expect(await call('math_add', { a: 0.1, b: 0.2 })).toBe(0.1 + 0.2);
  expect(await call('math_multiply', { a: 2.345, b: 3 })).toBe(7.04);
  expect(await call('math_multiply', { a: 2.345, b: 3, decimal_places: 0 })).toBe(7);
  expect(await call('math_divide', { a: 1, b: 0 })).toBe('Error: Cannot divide by zero.');
  expect(await call('math_round', { a: 2.567, decimal_places: null })).toBe(3);
});

test('options that a toolkit does not have are refused by name', async () => {
  for (const name of ['code', 'files', 'git', 'math', 'search', 'terminal'])
    await expect(loadTools(`workcell/toolkits/${name}`, { arguments: { verbose: true } })).rejects.toThrow(
      'has no option "verbose"',
    );
});

test('math', async () => {
  const call = caller(mathToolkit());
  expect(await call('add', { a: 1, b: 2 })).toBe(3);
  expect(await call('divide', { a: 1, b: 4 })).toBe(0.25);
  expect(await call('round', { a: 2.567, places: 1 })).toBe(2.6);
  await expect(call('divide', { a: 1, b: 0 })).rejects.toThrow('Division by zero');
  await expect(call('add', { a: 'one' })).rejects.toMatchObject({ code: 'invalid-arguments' });
});

describe('terminal', () => {
  test('keeps its state, tells exit codes, and survives what is broken', async () => {
    const cwd = folder();
    const call = caller(terminalToolkit({ cwd }));
    await call('shell_exec', { command: 'x=hello; mkdir d; cd d' });
    expect(await call('shell_exec', { command: 'echo $x; false' })).toMatchObject({
      output: 'hello\n',
      exitCode: 1,
      cwd: join(cwd, 'd'),
    });
    expect(await call('shell_exec', { command: 'echo "unclosed' })).toMatchObject({ exitCode: 2 });
    expect(await call('shell_exec', { command: 'echo $x' })).toMatchObject({ output: 'hello\n' });
    expect(await call('shell_exec', { command: 'exit 3' })).toMatchObject({ exitCode: null });
    expect(await call('shell_exec', { command: 'echo again' })).toMatchObject({
      output: 'again\n',
      exitCode: 0,
    });
  });

  test('has sessions of their own, and ends them', async () => {
    const call = caller(terminalToolkit({ cwd: folder() }));
    await call('shell_exec', { command: 'y=1', session: 'one' });
    expect(await call('shell_exec', { command: 'echo [$y]', session: 'two' })).toMatchObject({
      output: '[]\n',
    });
    expect(await call('shell_list')).toEqual(['one', 'two']);
    expect(await call('shell_kill', { session: 'one' })).toEqual({ ended: true });
    expect(await call('shell_exec', { command: 'echo [$y]', session: 'one' })).toMatchObject({
      output: '[]\n',
    });
  });

  test('shows head and tail of much, and ends a command that is cancelled', async () => {
    const call = caller(terminalToolkit({ cwd: folder() }));
    const much = await call('shell_exec', { command: 'seq 1000000' });
    expect(much).toMatchObject({ truncated: true });
    expect((much as { output: string }).output).toMatch(/^1\n2\n[\s\S]*bytes left out[\s\S]*\n1000000\n$/);
    const signal = AbortSignal.timeout(200);
    await expect(call('shell_exec', { command: 'sleep 600' }, { signal })).rejects.toThrow();
    expect(await call('shell_exec', { command: 'echo on' })).toMatchObject({ output: 'on\n' });
  });
});

describe('files', () => {
  test('reads, writes, edits and lists', async () => {
    const root = folder();
    const call = caller(filesToolkit({ root }));
    await call('write_file', { path: 'a/b.txt', content: 'one\ntwo\nthree\n' });
    expect(await call('read_file', { path: 'a/b.txt', startLine: 2, endLine: 2 })).toMatchObject({
      text: 'two',
      totalLines: 3,
    });
    expect(await call('edit_file', { path: 'a/b.txt', oldText: 'two', newText: '2' })).toMatchObject({
      line: 2,
    });
    expect(readFileSync(join(root, 'a/b.txt'), 'utf8')).toBe('one\n2\nthree\n');
    await expect(call('edit_file', { path: 'a/b.txt', oldText: 'e', newText: '' })).rejects.toThrow(
      'more than once',
    );
    await expect(call('edit_file', { path: 'a/b.txt', oldText: 'no', newText: '' })).rejects.toThrow(
      'is not in',
    );
    expect(await call('list_files')).toEqual([{ name: 'a', type: 'directory' }]);
  });

  test('does not leave its root', async () => {
    const root = folder();
    symlinkSync('/etc', join(root, 'link'));
    const call = caller(filesToolkit({ root }));
    for (const path of ['/etc/passwd', '../x', 'link/passwd', 'a/../../x'])
      await expect(call('read_file', { path })).rejects.toThrow('is outside of');
    await expect(call('write_file', { path: '../escape', content: '' })).rejects.toThrow('is outside of');
  });
});

test('search finds by name and content, leaves out binary files and what is not the project itself', async () => {
  const root = folder();
  for (const directory of ['src/deep', 'node_modules/x'])
    mkdirSync(join(root, directory), { recursive: true });
  writeFileSync(join(root, 'src/a.ts'), 'const needle = 1;\n');
  writeFileSync(join(root, 'src/deep/b.js'), 'NEEDLE\n');
  writeFileSync(join(root, 'src/c.bin'), 'needle\0');
  writeFileSync(join(root, 'node_modules/x/i.ts'), 'needle');
  const call = caller(searchToolkit({ root }));
  expect(await call('glob', { pattern: '**/*.{ts,js}' })).toEqual({
    files: ['src/a.ts', 'src/deep/b.js'],
    truncated: false,
  });
  expect(await call('grep', { query: 'needle' })).toEqual({
    matches: [{ file: 'src/a.ts', line: 1, text: 'const needle = 1;' }],
    truncated: false,
  });
  expect(await call('grep', { query: 'n.{2}dle', regex: true, ignoreCase: true, limit: 1 })).toMatchObject({
    truncated: true,
  });
});

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'd/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['src/**', 'src/d/a', true],
  ['a.{b,c}', 'a.c', true],
  ['[!a]?', 'bc', true],
  ['a+(b)', 'a+(b)', true],
])('the pattern %s and %s: %s', (pattern, path, expected) => {
  expect(pathMatcher(pattern)(path)).toBe(expected);
});

describe('code', () => {
  test.each([
    ['python', 'x = 6', 'print("hi"); x * 7', { output: 'hi\n', value: '42' }],
    ['javascript', 'var x = 6', 'console.log("hi"); x * 7', { output: 'hi\n', value: '42' }],
    ['shell', 'x=6', 'echo $((x * 7))', { output: '42\n', value: null }],
  ])('%s keeps its state', async (language, first, second, expected) => {
    const call = caller(codeToolkit({ cwd: folder() }));
    expect(await call('execute_code', { code: first, language })).toMatchObject({ error: null });
    expect(await call('execute_code', { code: second, language })).toEqual({ ...expected, error: null });
  });

  test.each([
    ['python', '1/0', 'ZeroDivisionError'],
    ['javascript', 'throw new TypeError("no")', 'TypeError: no'],
    ['shell', 'false', 'exit code 1'],
  ])('%s tells what failed and goes on', async (language, code, message) => {
    const call = caller(codeToolkit({ cwd: folder() }));
    expect(await call('execute_code', { code, language })).toMatchObject({
      error: expect.stringContaining(message),
    });
    expect(await call('execute_code', { code: 'echo = 1', language })).toBeDefined();
  });

  test('an interpreter that ends is replaced', async () => {
    const call = caller(codeToolkit({ cwd: folder() }));
    expect(await call('execute_code', { code: 'import os; os._exit(3)' })).toMatchObject({
      error: expect.stringContaining('ended'),
    });
    expect(await call('execute_code', { code: '1 + 1' })).toMatchObject({ value: '2' });
    expect(await call('execute_code', { code: 'echo hi', code_type: 'bash' })).toMatchObject({
      output: 'hi\n',
    });
  });
});

test('git looks at a repository and runs nothing of it', async () => {
  const root = folder();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root });
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'A');
  writeFileSync(join(root, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-qm', 'First');
  writeFileSync(join(root, 'a.txt'), 'two\n');
  for (const name of ['core.fsmonitor', 'diff.external', 'core.pager'])
    git('config', name, `touch ${join(root, 'ran')};:`);
  writeFileSync(join(root, '.git/info/attributes'), '* filter=trap diff=trap\n');
  for (const name of ['filter.trap.clean', 'filter.trap.process', 'diff.trap.textconv', 'diff.trap.command'])
    git('config', name, `touch ${join(root, 'ran')};cat`);
  const call = caller(gitToolkit({ root }));
  expect(await call('git_status')).toBe('## main\n M a.txt\n');
  expect(await call('git_log')).toMatch(/^[0-9a-f]+ .* A: First\n$/);
  expect(await call('git_diff')).toContain('+two');
  expect(await call('git_show', { revision: 'HEAD:a.txt' })).toBe('one\n');
  expect(await call('git_blame', { path: 'a.txt' })).toContain('two');
  await expect(call('git_diff', { revision: '--output=x' })).rejects.toMatchObject({
    code: 'invalid-arguments',
  });
  expect(await call('git_status')).not.toContain('ran');
});
