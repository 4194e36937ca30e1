/** Which folder may import which: one table. `src/` files at the top go by their own name. */
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, importsOf, readText } from './source.js';

const walls: Record<string, readonly string[]> = {
  protocol: [],
  git: [],
  events: ['protocol'],
  security: ['protocol', 'events'],
  launchers: ['protocol'],
  plugins: ['protocol', 'launchers'],
  executor: ['protocol', 'launchers', 'plugins'],
  engines: ['protocol'],
  images: ['protocol', 'launchers', 'executor', 'engines'],
  tools: ['protocol', 'plugins', 'git', 'executor'],
  runtime: ['protocol', 'events', 'security', 'plugins', 'tools', 'git'],
  backends: ['protocol', 'events', 'launchers', 'executor', 'engines', 'images', 'plugins'],
  config: ['protocol', 'backends'],
  'assemble.ts': ['protocol', 'events', 'runtime', 'config', 'security', 'plugins'],
  'cells.ts': ['protocol', 'backends', 'config', 'assemble.ts'],
  'attach-runtime.ts': ['protocol', 'events', 'runtime', 'config', 'security', 'assemble.ts', 'cells.ts'],
  'create-runtime.ts': [
    'protocol',
    'events',
    'runtime',
    'backends',
    'config',
    'security',
    'assemble.ts',
    'cells.ts',
  ],
  'index.ts': [
    'protocol',
    'events',
    'runtime',
    'backends',
    'config',
    'create-runtime.ts',
    'attach-runtime.ts',
    'cells.ts',
    'plugins',
    'tools',
  ],
  abuse: ['protocol', 'index.ts'],
  compat: ['protocol', 'launchers', 'plugins', 'executor', 'runtime'],
  server: ['protocol', 'executor', 'tools', 'index.ts'],
  adapters: ['protocol', 'tools', 'server', 'index.ts'],
  cli: [
    'events',
    'server',
    'abuse',
    'compat',
    'protocol',
    'launchers',
    'executor',
    'engines',
    'images',
    'backends',
    'config',
    'create-runtime.ts',
    'attach-runtime.ts',
    'cells.ts',
    'index.ts',
    'plugins',
    'security',
  ],
};

const longestFile = 500;

const files = filesBelow('src', '.ts');

test('every folder of src stands in the table of walls', () => {
  const folders = new Set(files.map(folderOf));
  expect([...folders].filter((folder) => !(folder in walls))).toEqual([]);
});

test('no file imports across a wall', () => {
  const crossings = files.flatMap((file) => {
    const from = folderOf(file);
    const reached = importsOf(readText(file))
      .filter((name) => name.startsWith('.') && !name.endsWith('/package.json'))
      .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'));
    return reached
      .filter((path) => folderOf(path) !== from && !walls[from]?.includes(folderOf(path)))
      .map((path) => `${file} imports ${path}`);
  });
  expect(crossings).toEqual([]);
});

test('protocol needs nothing but zod, so that it also works in a browser', () => {
  const outside = files
    .filter((file) => folderOf(file) === 'protocol')
    .flatMap((file) => importsOf(readText(file)).map((name) => `${file} imports ${name}`))
    .filter((line) => !/ imports (zod$|\.)/.test(line));
  expect(outside).toEqual([]);
});

test('no file is longer than a file should be', () => {
  const lengths = files.map((file) => ({ file, lines: readText(file).split('\n').length - 1 }));
  expect(lengths.filter(({ lines }) => lines > longestFile)).toEqual([]);
});

test('the import reader sees every form of import', () => {
  const source = [
    "import a from 'one';",
    "import type { B } from './two.js';",
    "import {\n  c,\n  d,\n} from '../three.js';",
    "export * from 'four';",
    "export type { E } from 'five';",
    "import 'six';",
    "const f = () => import('./seven.js');",
    "const g = require('eight');",
    "// import h from 'nine';",
    "/* import i from 'ten'; */",
    "const text = 'import nothing';",
  ].join('\n');
  expect(importsOf(source)).toEqual([
    'one',
    './two.js',
    '../three.js',
    'four',
    'five',
    'six',
    './seven.js',
    'eight',
  ]);
});

function folderOf(path: string): string {
  const [first = ''] = relative('src', path).split('/');
  return first;
}
