import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileFileGlob } from '../../../../src/cell/executor/files/search/glob-pattern.js';
import { grep } from '../../../../src/cell/executor/files/search/grep.js';
import { IgnoreRules } from '../../../../src/cell/executor/files/search/ignore-rules.js';
import { codeOf, errorOf, makeScratch, type Scratch } from './scratch.js';

function scratchWith(files: Readonly<Record<string, string | Buffer>>): Scratch {
  const scratch = makeScratch();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(scratch.root, path)), { recursive: true });
    writeFileSync(join(scratch.root, path), content);
  }
  return scratch;
}

const project = {
  'src/main.ts': 'import x from "./x";\nconst TODO = 1;\n',
  'src/deep/x.ts': 'export default 1; // todo\r\nlast line',
  'src/deep/x.test.ts': 'TODO: test\n',
  'node_modules/lib/index.js': 'TODO\n',
  'build/out.js': 'TODO\n',
  'build/keep.js': 'TODO\n',
  'notes.log': 'TODO\n',
  '.hidden/file.ts': 'TODO\n',
  '.env': 'TODO=1\n',
  'a-b.ts': 'TODO\n',
  'a/z.ts': 'TODO\n',
  'binary.bin': Buffer.from('TODO\0\n'),
  'wide.txt': Buffer.from('\uFEFFeins\nTODO zwei\n', 'utf16le'),
  'marked.txt': '\uFEFFTODO first\n',
  'latin.txt': Buffer.from('gr\xfcn TODO\n', 'latin1'),
  '.gitignore': 'node_modules/\nbuild/*\n!build/keep.js\n*.log\n# comment\n',
  'src/.ignore': '*.test.ts\n',
  'src/deep/.gitignore': '!x.test.ts\n',
  'sub/.gitignore': '/only-here.txt\nany[0-9].txt\n',
  'sub/only-here.txt': 'TODO\n',
  'sub/inner/only-here.txt': 'TODO\n',
  'sub/inner/any3.txt': 'TODO\n',
};

describe('glob', () => {
  it('finds by name at any depth, by path, and by alternatives', async () => {
    const { root, act } = scratchWith(project);
    const find = async (pattern: string, more = {}) =>
      (await act({ action: 'glob', pattern, ...more })).paths;
    expect(await find('*.ts')).toEqual(['a-b.ts', 'a/z.ts', 'src/deep/x.ts', 'src/main.ts']);
    expect(await find('src/*.ts')).toEqual(['src/main.ts']);
    expect(await find('./src/*.ts')).toEqual(['src/main.ts']);
    expect(await find(`${root}/src/*.ts`)).toEqual(['src/main.ts']);
    expect(await find('src/**')).toEqual(['src/deep/x.ts', 'src/main.ts']);
    expect(await find('**/{main,z}.[tj]s')).toEqual(['a/z.ts', 'src/main.ts']);
    expect(await find('x.ts', { path: 'src' })).toEqual(['src/deep/x.ts']);
    expect(await find('deep/*', { path: 'src', ignored: true })).toEqual([
      'src/deep/x.test.ts',
      'src/deep/x.ts',
    ]);
    expect(await find('.env')).toEqual([]);
    expect(await find('{.env,*.ts}', { path: '.', hidden: true })).toContain('.hidden/file.ts');
    expect(await act({ action: 'glob', pattern: '*.ts', limit: 2 })).toMatchObject({
      truncated: true,
      paths: { length: 2 },
    });
    for (const pattern of ['[a', '{a,b', 'a}', 'a\\', '{a,b}'.repeat(12)]) {
      expect(await codeOf(act({ action: 'glob', pattern })), pattern).toBe('invalid-pattern');
    }
  });

  it('gives the files that ripgrep lists', async () => {
    const { root, act } = scratchWith(project);
    const list = (args: string[]) =>
      execFileSync('rg', ['--files', '--no-require-git', '--no-config', ...args], {
        cwd: root,
        encoding: 'utf8',
      })
        .split('\n')
        .filter(Boolean)
        .sort();
    expect((await act({ action: 'glob', pattern: '**' })).paths).toEqual(list([]));
    expect((await act({ action: 'glob', pattern: '**', hidden: true })).paths).toEqual(list(['--hidden']));
    expect((await act({ action: 'glob', pattern: '**', ignored: true })).paths).toEqual(
      list(['--no-ignore']),
    );
    expect((await act({ action: 'glob', pattern: '**', path: 'sub/inner' })).paths).toEqual(
      list(['sub/inner']),
    );
  });

  it('leaves .git alone unless everything is asked for', async () => {
    const { act } = scratchWith({ '.git/config': '', '.git/hooks/x': '', 'a.txt': '' });
    expect((await act({ action: 'glob', pattern: '**', hidden: true })).paths).toEqual(['a.txt']);
    expect((await act({ action: 'glob', pattern: '**', hidden: true, ignored: true })).paths).toHaveLength(3);
  });

  it('judges paths as git does', () => {
    const { root } = makeScratch();
    execFileSync('git', ['init', '-q', root]);
    // Leaves out two stars next to other characters: what git makes of them depends on where they stand.
    const rule = fc.stringMatching(
      /^!?\/?(\*\*?|\*?([ab?]|\[ab\]|\[!a\]){1,3}\*?)(\/(\*\*?|\*?[ab?]{1,2}\*?)){0,2}\/?$/,
    );
    const path = fc.stringMatching(/^[ab]{1,3}(\/[ab]{1,3}){0,2}$/);
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 4 }),
        fc.array(path, { minLength: 20, maxLength: 20 }),
        (rules, paths) => {
          writeFileSync(join(root, '.gitignore'), `${rules.join('\n')}\n`);
          const { stdout } = spawnSync('git', ['-C', root, 'check-ignore', '--no-index', '--stdin'], {
            input: paths.join('\n'),
            encoding: 'utf8',
          });
          const byGit = new Set(stdout.split('\n'));
          const own = new IgnoreRules(rules.join('\n'));
          for (const candidate of paths)
            expect(isIgnored(own, candidate), `${candidate} by ${rules.join(' ')}`).toBe(
              byGit.has(candidate),
            );
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is not slowed down by patterns and ignore files made to hurt', async () => {
    const name = 'a'.repeat(250);
    const hurtful = `${'*a'.repeat(100)}b`;
    const { act } = scratchWith({ [name]: 'x', '.gitignore': `${hurtful}\n`.repeat(200) });
    const startedAt = performance.now();
    expect((await act({ action: 'glob', pattern: hurtful })).paths).toEqual([]);
    expect((await act({ action: 'glob', pattern: `${'**/'.repeat(500)}b` })).paths).toEqual([]);
    expect(compileFileGlob('**/a/**/a/**/a/**/b')('a/'.repeat(2000))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});

/** As a walk would judge it: an ignored directory makes everything in it ignored, too. */
function isIgnored(rules: IgnoreRules, path: string): boolean {
  const names = path.split('/');
  return names.some(
    (_, index) => rules.judge(names.slice(0, index + 1).join('/'), index + 1 < names.length) === 'ignored',
  );
}

describe('grep', () => {
  it('gives lines, numbers and context', async () => {
    const { act } = scratchWith({ 'a.txt': 'one\r\ntwo\nthree\nfour\nfive' });
    expect((await act({ action: 'grep', pattern: 't(wo|hree)$', context: 1 })).matches).toEqual([
      { path: 'a.txt', line: 2, text: 'two', before: ['one'], after: ['three'] },
      { path: 'a.txt', line: 3, text: 'three', before: ['two'], after: ['four'] },
    ]);
    expect((await act({ action: 'grep', pattern: '^one$', path: 'a.txt' })).matches).toEqual([
      { path: 'a.txt', line: 1, text: 'one' },
    ]);
    expect(await act({ action: 'grep', pattern: '.', limit: 2 })).toMatchObject({
      truncated: true,
      matches: { length: 2 },
    });
    expect(await act({ action: 'grep', pattern: '.', limit: 5 })).toMatchObject({ truncated: false });
  });

  const queries: { pattern: string; args?: string[]; [option: string]: unknown }[] = [
    { pattern: 'TODO' },
    { pattern: 'todo', ignoreCase: true, args: ['-i'] },
    { pattern: '(?i)todo' },
    { pattern: '^TODO' },
    { pattern: '\\bT\\w+$' },
    { pattern: '[[:upper:]]{4}:' },
    { pattern: '"./', literal: true, args: ['-F'] },
    { pattern: '(?P<name>zwei)' },
    { pattern: 'TODO', hidden: true, args: ['--hidden'] },
    { pattern: 'TODO', ignored: true, args: ['--no-ignore'] },
    { pattern: 'TODO', path: 'sub/inner' },
    { pattern: 'absent' },
  ];

  it.each(queries)('finds what ripgrep finds: %j', async ({ args = [], ...query }) => {
    const { root, act } = scratchWith(project);
    const flags = [
      '--no-require-git',
      '--no-config',
      '--crlf',
      '--no-heading',
      '-n',
      '-H',
      '--sort=path',
      ...args,
    ];
    const path = typeof query.path === 'string' ? [query.path] : ['.'];
    const { stdout } = spawnSync('rg', [...flags, '-e', query.pattern, ...path], {
      cwd: root,
      encoding: 'utf8',
    });
    const expected = stdout
      .split('\n')
      .filter((line) => line !== '' && !line.includes('binary file matches'));
    const { matches } = await act({ action: 'grep', ...query });
    const found = matches.map((match) => `${match.path}:${match.line}:${match.text}`);
    expect(found.sort()).toEqual(expected.map((line) => line.replace(/^\.\//, '').replace(/\r$/, '')).sort());
  });

  it('takes only files whose path matches', async () => {
    const { act } = scratchWith(project);
    const { matches } = await act({ action: 'grep', pattern: 'TODO', glob: '{src/**,*.txt}' });
    expect(matches.map(({ path }) => path)).toEqual([
      'latin.txt',
      'marked.txt',
      'src/main.ts',
      'sub/inner/only-here.txt',
      'wide.txt',
    ]);
  });

  it('clips long lines around the match', async () => {
    const { act } = scratchWith({ 'min.js': `${'x'.repeat(50_000)}NEEDLE${'y'.repeat(50_000)}` });
    const { matches } = await act({ action: 'grep', pattern: 'NEEDLE' });
    expect(matches[0]?.text).toContain('NEEDLE');
    expect(matches[0]?.text.length).toBeLessThan(2100);
  });

  it('refuses patterns that are wrong or never come to an end, and goes on after them', async () => {
    const { tree, act } = scratchWith({ 'a.txt': `${'a'.repeat(60)}!` });
    expect(await codeOf(act({ action: 'grep', pattern: '(' }))).toBe('invalid-pattern');
    const bomb = grep(tree, { pattern: '^(a+)+$', path: '.', context: 0, limit: 10, matchTimeoutMs: 300 });
    const error = await errorOf(bomb);
    expect(error.code).toBe('invalid-pattern');
    expect(error.message).toMatch(/300 ms/);
    const controller = new AbortController();
    const cancelled = grep(tree, {
      pattern: '^(a+)+$',
      path: '.',
      context: 0,
      limit: 10,
      signal: controller.signal,
    });
    setImmediate(() => controller.abort());
    expect(await codeOf(cancelled)).toBe('cancelled');
    expect((await act({ action: 'grep', pattern: 'a!' })).matches).toHaveLength(1);
  });

  it('does not follow links, so loops of them do no harm', async () => {
    const { root, outside, act } = scratchWith({ 'a/b.txt': 'needle' });
    symlinkSync('..', join(root, 'a/loop'));
    symlinkSync(outside, join(root, 'a/outside'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'a/secret'));
    expect((await act({ action: 'grep', pattern: 'needle|secret' })).matches).toHaveLength(1);
    expect((await act({ action: 'glob', pattern: '**' })).paths).toEqual(['a/b.txt']);
  });
});

it('an ignore file that is made to hurt is looked at in part', () => {
  // The last rule decides, so the rules look at the first one last; each of the others tries the whole name.
  const rules = new IgnoreRules(`*z\n${'*a*a*a*a*a*a*b\n'.repeat(4000)}`);
  expect(rules.judge('short-z', false)).toBe('ignored');
  expect(rules.judge(`${'a'.repeat(254)}z`, false)).toBeUndefined();
});
