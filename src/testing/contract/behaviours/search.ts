import type { Runtime } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, refusal, sh } from '../given.js';

async function makeProject(runtime: Runtime): Promise<void> {
  await sh(runtime, 'git init -q .');
  const files = {
    '.gitignore': 'build/\n*.log\n',
    '.hidden/note.ts': 'needle hidden\n',
    'build/out.ts': 'needle built\n',
    'debug.log': 'needle logged\n',
    'src/app.ts': 'import x\nconst needle = 1;\n// Needle again\nexport {};\n',
    'src/deep/util.ts': 'a\nb\nneedle(2)\nd\ne\n',
    'src/deep/util.py': 'needle = 3\n',
    'README.md': '# Title\n',
  };
  for (const [path, content] of Object.entries(files)) await runtime.write(path, content);
}

export const searchBehaviours: Behaviours = {
  'search.glob': async ({ runtime }) => {
    await makeProject(runtime);
    expect(await runtime.files.glob('*.ts')).toEqual(['src/app.ts', 'src/deep/util.ts']);
    expect(await runtime.files.glob('src/*.ts')).toEqual(['src/app.ts']);
    expect(await runtime.files.glob('**/util.{ts,py}')).toEqual(['src/deep/util.py', 'src/deep/util.ts']);
    expect(await runtime.files.glob('*.ts', { path: 'src/deep' })).toEqual(['src/deep/util.ts']);
    expect(await runtime.files.glob('*.ts', { ignored: true })).toContain('build/out.ts');
    expect(await runtime.files.glob('*.ts', { hidden: true })).toContain('.hidden/note.ts');
    expect(await runtime.files.glob('*.nothing')).toEqual([]);
  },

  'search.glob-limit': async ({ runtime }) => {
    await sh(runtime, 'for n in $(seq 50); do echo > file$n.txt; done');
    const result = await runtime.execute({ action: 'glob', pattern: '*.txt', limit: 10 });
    expect(result.paths).toHaveLength(10);
    expect(result.truncated).toBe(true);
    expect(await runtime.execute({ action: 'glob', pattern: '*.txt' })).toMatchObject({ truncated: false });
  },

  'search.grep': async ({ runtime }) => {
    await makeProject(runtime);
    const matches = await runtime.files.grep('needle\\b');
    expect(matches.map(({ path, line, text }) => [path, line, text]).sort()).toEqual([
      ['src/app.ts', 2, 'const needle = 1;'],
      ['src/deep/util.py', 1, 'needle = 3'],
      ['src/deep/util.ts', 3, 'needle(2)'],
    ]);
    expect(await runtime.files.grep('^export')).toMatchObject([{ path: 'src/app.ts', line: 4 }]);
    expect(await runtime.files.grep('absent anywhere')).toEqual([]);
  },

  'search.grep-options': async ({ runtime }) => {
    await makeProject(runtime);
    expect(await runtime.files.grep('NEEDLE', { ignoreCase: true, path: 'src/app.ts' })).toHaveLength(2);
    expect(await runtime.files.grep('needle(2)', { literal: true })).toMatchObject([
      { path: 'src/deep/util.ts' },
    ]);
    expect((await runtime.files.grep('needle', { glob: '*.py' })).map(({ path }) => path)).toEqual([
      'src/deep/util.py',
    ]);
    expect(await runtime.files.grep('needle\\(', { context: 2 })).toMatchObject([
      { line: 3, before: ['a', 'b'], after: ['d', 'e'] },
    ]);
    expect((await runtime.files.grep('needle', { ignored: true })).map(({ path }) => path)).toContain(
      'debug.log',
    );
    expect((await runtime.files.grep('needle', { hidden: true })).map(({ path }) => path)).toContain(
      '.hidden/note.ts',
    );
  },

  'search.grep-limit': async ({ runtime }) => {
    await sh(runtime, 'seq 1 500 | sed "s/^/needle /" > many; printf "needle\\0binary\\n" > binary.bin');
    const result = await runtime.execute({ action: 'grep', pattern: 'needle', limit: 20 });
    expect(result.matches).toHaveLength(20);
    expect(result.truncated).toBe(true);
    const all = await runtime.files.grep('needle');
    expect(all.every(({ path }) => path === 'many')).toBe(true);
  },

  'search.bad-pattern': async ({ runtime }) => {
    await runtime.write('file', 'x\n');
    await refusal(runtime.files.grep('(unclosed'), 'invalid-pattern');
    await refusal(runtime.files.grep('x', { path: 'missing' }), 'not-found');
    expect(await runtime.files.grep('(', { literal: true })).toEqual([]);
  },
};
