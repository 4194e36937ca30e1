/** A search of a large tree with the cell's ripgrep: the same results, also with one that lies, hangs or is missing. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import { glob } from '../../../../src/cell/executor/files/search/find-by-glob.js';
import { type GrepOptions, type Grepped, grep } from '../../../../src/cell/executor/files/search/grep.js';
import { compilePattern } from '../../../../src/cell/executor/files/search/regex.js';
import { ripgrep } from '../../../../src/cell/executor/files/search/ripgrep.js';
import { ripgrepPattern } from '../../../../src/cell/executor/files/search/ripgrep-pattern.js';
import { walkedEntries } from '../../../../src/cell/executor/files/search/search-candidates.js';
import { createHostLauncher } from '../../../../src/cell/launchers/host-launcher.js';
import { errorOf } from './scratch.js';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-test-')));
const root = join(base, 'root');
const programs = join(base, 'programs');
mkdirSync(root);
mkdirSync(programs);
const path = process.env.PATH ?? '/usr/bin:/bin';
const launcher = createHostLauncher({ workspace: root, environment: { PATH: path } });
/** Directories above the workspace are in it, and so are their ignore files. */
const whole = new Tree({ root: '/', mount: '/', workspace: root });
const tree = new Tree({ root, mount: root, workspace: root });

const files: Record<string, string | Buffer> = {
  '.gitignore': '*.log\nout/\n/top.txt\n!kept.log\nbuild/*\n!build/keep.js\n',
  '.hidden/file.ts': 'needle\n',
  '.git/config': 'needle\n',
  'a-b.ts': 'needle 1\n',
  'a/z.ts': 'needle 2\n',
  'a/.rgignore': 'skipped.ts\n',
  'a/skipped.ts': 'needle\n',
  'a/.ignore': '!skipped.ts\nother.ts\n',
  'a/other.ts': 'needle\n',
  'a/.gitignore': '!other.ts\n',
  'binary.bin': Buffer.from('needle\0\n'),
  'late.bin': Buffer.from(`needle\n${'x'.repeat(100_000)}\0`),
  'build/out.js': 'needle\n',
  'build/keep.js': 'needle\n',
  'build/deep/x.js': 'needle\n',
  'empty.txt': '',
  'kept.log': 'needle\n',
  'noisy.log': 'needle\n',
  'out/x.txt': 'needle\n',
  'sub/.gitignore': '/only.txt\nany[0-9].txt\n',
  'sub/inner/any3.txt': 'needle\n',
  'sub/inner/only.txt': 'needle\n',
  'sub/only.txt': 'needle\n',
  'sub/top.txt': 'needle\n',
  'sub/worktree/.git': 'needle\n',
  'top.txt': 'needle\n',
};
for (const [name, content] of Object.entries(files)) put(name, content);

/** Lines that the two syntaxes of patterns could see differently, in a directory of their own. */
const texts: Record<string, string | Buffer> = {
  'crlf.txt': 'one\r\nneedle\r\nlast needle\r\n\r\n',
  'mac.txt': 'import\rneedle\rend',
  'latin.txt': Buffer.from('gr\xfcn needle\nna\xefve\n', 'latin1'),
  'cut.txt': Buffer.from([0x61, 0xe2, 0x82, 0x62, 0x0a, 0xf0, 0x9f, 0x98, 0x0a]),
  'marked.txt': '\uFEFFneedle first\n',
  'unicode.txt':
    'Stra\u00dfe \u00c4pfel\n\u212aelvin \u017fharp\na\u00a0b\u2003c\u0085d\ufeffe\n\u{1F600}\u2028next\n',
  'wide.txt': Buffer.from('\uFEFFeins\nneedle zwei\n', 'utf16le'),
  'words.txt':
    'foo_bar foo-bar (foo) [x] {1} a.b a+b "q" \'s\' 50% /path/to \\back\n\tTabbed foo\nfoofoo 123 x9\n',
};
for (const [name, content] of Object.entries(texts)) put(`../texts/${name}`, content);
for (let index = 0; index <= walkedEntries; index++) {
  put(`!first/${String(index).padStart(4, '0')}.txt`, 'x\n');
}
symlinkSync('..', join(root, 'sub/loop'));
symlinkSync('../a-b.ts', join(root, 'sub/link.ts'));

afterAll(async () => {
  await launcher.close();
  tree.close();
  whole.close();
  rmSync(base, { recursive: true, force: true });
});

function put(name: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

type Query = Partial<GrepOptions> & { pattern: string };

async function bothWays(query: Query, within = tree) {
  const options = { path: '.', context: 0, limit: 5000, ...query };
  const walked = await grep(within, options);
  const { program, ...named } = await grep(within, { ...options, launcher });
  return { walked, named, program };
}

describe('a search with ripgrep gives what a walk gives', () => {
  const globs: (Omit<Parameters<typeof glob>[1], 'limit' | 'path'> & { limit?: number; path?: string })[] = [
    { glob: '**' },
    { glob: '**', hidden: true },
    { glob: '**', ignored: true },
    { glob: '**', hidden: true, ignored: true },
    { glob: '*.ts' },
    { glob: 'a/*' },
    { glob: '{sub/**,*.log}' },
    // The limit falls between a directory and a name that begins like it.
    ...[502, 503].map((limit) => ({ glob: '**', limit })),
  ];
  it.each(globs)('for files: %j', async (query) => {
    const options = { path: '.', limit: 5000, ...query };
    const { program, ...named } = await glob(tree, { ...options, launcher });
    expect(named).toEqual(await glob(tree, options));
    expect(program).toBe('rg');
  });

  const lines: Query[] = [
    { pattern: 'needle' },
    { pattern: 'NEEDLE', ignoreCase: true },
    { pattern: '(?i)NEEDLE' },
    { pattern: 'needle', hidden: true },
    { pattern: 'needle', ignored: true },
    { pattern: 'needle', hidden: true, ignored: true, context: 2 },
    { pattern: 'needle', limit: 3 },
    { pattern: 'needle', glob: '*.ts' },
    { pattern: 'a.b', literal: true },
  ];
  it.each(lines)('for lines: %j', async (query) => {
    const { walked, named, program } = await bothWays(query);
    expect(named).toEqual(walked);
    expect(program).toBe('rg');
  });
});

describe('ripgrep names every file with a line that matches', () => {
  const small = new Tree({ root: join(base, 'texts'), mount: '/', workspace: '/' });
  afterAll(() => small.close());

  async function check(pattern: string, options: { ignoreCase?: boolean; literal?: boolean }) {
    const { matches } = await grep(small, { pattern, path: '.', context: 0, limit: 1000, ...options });
    const compiled = compilePattern(pattern, options);
    const translated = ripgrepPattern(compiled) ?? `no translation of ${pattern}`;
    const named: string[] = [];
    const request = { cwd: join(base, 'texts'), rulesAbove: false, ignoreCase: options.ignoreCase };
    const naming = ripgrep(launcher, { ...request, pattern: translated });
    for (let step = await naming.next(); ; step = await naming.next()) {
      if (step.done) {
        expect(step.value, translated).toBe('complete');
        break;
      }
      named.push(...step.value);
    }
    expect(named, translated).toEqual(expect.arrayContaining(matches.map((match) => match.path)));
  }

  it.each([
    '^needle',
    'needle$',
    '^$',
    '^\\s*$',
    '\\bfoo\\b',
    '\\Bfoo',
    'foo[_-]bar',
    '[^\\w\\s]foo',
    '[\\]x]',
    '[+--]',
    '[!--a]x',
    '[^-a]foo',
    '\\(foo\\)',
    'a\\.b|a\\+b',
    '\\{\\d\\}',
    '"[^"]+"',
    '\\d{2,}%?',
    '/path/\\w+',
    '\\\\back',
    '\\tTabbed',
    '(?P<twice>foo){2}',
    '(?:foo){2,3}?',
    '[[:upper:]][[:lower:]]+ ',
    'import\\s+needle',
    'import[^x]needle',
    'gr.n',
    'gr\\Dn',
    'na[^z]ve',
    '^a.b$',
    '^.$',
    '^..$',
    'b\\sc',
    'c\\Sd',
    'd\\se',
    '\u{1F600}.next',
    '^.\\s',
    '\u00c4pfel',
    'zwei',
    'absent',
    '',
    'x{0}',
    'foo|',
    '[a&&b]',
    '~~|a--b',
    'needle',
    '^a\\tb$',
  ])('%j', (pattern) => check(pattern, {}));

  it.each(['kelvin', '\\bkelvin', 'sharp', '\\W\\w+', '[^a-z]+', '[k]elvin'])(
    '%j in either case',
    (pattern) => check(pattern, { ignoreCase: true }),
  );

  it.each(['a.b', '[x] {1} a', '\t', '\\back'])('%j as plain text', (pattern) =>
    check(pattern, { literal: true }),
  );

  it.each([
    '(?=foo)',
    '(a)\\1',
    '\\p{L}',
    '\\n',
    '\\u0041',
    '(?s)a.b',
    '(?m)a$',
    '\\"',
    '[]',
    '\uFFFD',
    '[a-\u00e4]',
  ])('but has no say about %j, which it takes for something else', (pattern) => {
    expect(ripgrepPattern(compilePattern(pattern, {}))).toBeUndefined();
  });

  it('or about letters whose case is a matter of versions', () => {
    expect(ripgrepPattern(compilePattern('\u00e4', { ignoreCase: true }))).toBeUndefined();
  });
});

it('takes the rules of directories above the one that it searches', async () => {
  for (let index = 0; index <= walkedEntries; index++) put(`sub/!first/${index}.log.txt`, '');
  for (const options of [{}, { hidden: true }, { ignored: true }]) {
    const query = { glob: '**', path: 'sub', limit: 5000, ...options };
    const { program, ...named } = await glob(whole, { ...query, launcher });
    expect(named).toEqual(await glob(whole, query));
    expect(named.paths).toContain('sub/inner/only.txt');
    expect(program).toBe('rg');
    // Of a tree that is a part of the file system, rules above it do not count, but to ripgrep they would.
    expect(await glob(tree, { ...query, launcher })).toMatchObject(named);
  }
  rmSync(join(root, 'sub/!first'), { recursive: true });
});

describe('a ripgrep that is none', () => {
  const programsOfCells: Record<string, string> = {
    'says that it could not read all': 'printf "./a/z.ts\\0"; exit 2',
    'is killed': 'kill -9 $$',
    'knows other options': 'echo unknown >&2; exit 2',
    'names files in another order': 'printf "./sub/top.txt\\0./a/z.ts\\0"',
    'names one file for ever': 'yes ./a/z.ts | tr "\\n" "\\0"',
    'names what is outside': `printf "./../programs/secret.txt\\0"`,
    'names an absolute path': `printf "${base}/programs/secret.txt\\0"`,
    'names no text': 'printf "./\\377\\0"',
    'names without an end': 'head -c 100000 /dev/zero | tr "\\0" a',
    'ends within a name': 'printf ./a/z.ts',
  };
  const launcherWith = (name: string, program?: string) => {
    const directory = join(programs, name.replaceAll(' ', '-'));
    mkdirSync(directory, { recursive: true });
    if (program !== undefined) {
      writeFileSync(join(directory, 'rg'), `#!/bin/sh\nPATH=${path}\n${program}\n`);
      chmodSync(join(directory, 'rg'), 0o755);
    }
    return { ...launcher, environment: { PATH: directory } };
  };
  const query = { pattern: 'needle|secret', path: '.', context: 0, limit: 5000 };
  let whatIsThere: Promise<Grepped> | undefined;
  const walked = () => {
    whatIsThere ??= grep(tree, query);
    return whatIsThere;
  };
  writeFileSync(join(programs, 'secret.txt'), 'secret');

  it.each(Object.entries(programsOfCells))(
    '%s: the search finds what a walk finds',
    async (name, program) => {
      const { program: _, ...found } = await grep(tree, { ...query, launcher: launcherWith(name, program) });
      expect(found).toEqual(await walked());
      expect(launcher.processes()).toEqual([]);
    },
  );

  it('is missing: the search says that it did without', async () => {
    const found = await grep(tree, { ...query, launcher: launcherWith('missing') });
    expect(found).toEqual(await walked());
  });

  it('names links and what is behind them: the search does not follow', async () => {
    const fake = launcherWith('links', 'printf "./sub/link.ts\\0./sub/loop/a-b.ts\\0"');
    expect((await grep(tree, { ...query, launcher: fake })).matches).toEqual([]);
  });

  it('hangs: it ends with the time of a walk, and with the caller', async () => {
    const hanging = launcherWith('hangs', 'printf "./a/z.ts\\0"; sleep 1000 & wait');
    const request = { cwd: root, rulesAbove: false };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = ripgrep(hanging, request);
    expect(await late.next()).toEqual({ done: false, value: ['a/z.ts'] });
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
    expect(await late.next()).toEqual({ done: true, value: 'late' });
    const controller = new AbortController();
    const cancelled = ripgrep(hanging, { ...request, signal: controller.signal });
    await cancelled.next();
    controller.abort();
    expect((await errorOf(cancelled.next())).code).toBe('cancelled');
    expect(launcher.processes()).toEqual([]);
  });
});
