/** Which part of `src/` may import which. A file belongs to the part with the longest name that fits it. */
import { basename, dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { backends } from '../../src/backends/index.js';
import { builtinPlugins } from '../../src/cell/plugins/builtin.js';
import { filesBelow, importsOf, readText } from './source.js';
import { walls } from './walls.js';

const longestFile = 500;

const files = filesBelow('src', '.ts');

test('every file of src belongs to a part in the table', () => {
  expect(files.filter((file) => partOf(file) === undefined)).toEqual([]);
});

test('ARCHITECTURE.md has a row for each folder of the table', () => {
  const rows = [...readText('ARCHITECTURE.md').matchAll(/^\| `src\/([\w/-]+)\/` \|/gm)].map(
    (match) => match[1],
  );
  expect(rows.sort()).toEqual(
    Object.keys(walls)
      .filter((part) => !part.endsWith('.ts'))
      .sort(),
  );
});

test('no file imports across a wall', () => {
  const crossings = files.flatMap((file) => {
    const from = partOf(file) ?? '';
    const reached = importsOf(readText(file))
      .filter(isOwn)
      .map((name) => normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'));
    return reached
      .filter((path) => partOf(path) !== from && !walls[from]?.some((part) => isWithin(path, part)))
      .map((path) => `${file} imports ${path}`);
  });
  expect(crossings).toEqual([]);
});

test('the program that ships into cells contains protocol, cell and base only', () => {
  const reached = new Set(['src/cell/main.ts']);
  for (const file of reached)
    for (const name of importsOf(readText(file)).filter(isOwn))
      reached.add(normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'));
  expect([...reached].filter((file) => !/^src\/(protocol|cell|base)\/|package\.json$/.test(file))).toEqual(
    [],
  );
  expect(reached.size).toBeGreaterThan(100);
});

test('the Runtime names no plugin, no action of one, and no backend', async () => {
  const plugins = await Promise.all(
    Object.values(builtinPlugins).map(async (load) => (await load()).default),
  );
  const names = [
    ...plugins.flatMap(({ name, actions }) => [name, ...Object.keys(actions)]),
    ...Object.keys(backends),
  ];
  const code = readText('src/runtime/runtime.ts').replace(/^\s*(\/?\*|\/\/).*$/gm, '');
  expect(names.filter((name) => new RegExp(`['"\`/.]${name}\\b`).test(code))).toEqual([]);
  expect(names).toContain('run_code');
});

test('the console imports src/protocol and packages for pages, and nothing else of this one', () => {
  const packages = ['react', 'react-dom/client', 'zod', '@xterm/xterm', '@xterm/addon-fit', 'uplot'];
  const crossings = [...filesBelow('console/src', '.ts'), ...filesBelow('console/src', '.tsx')].flatMap(
    (file) =>
      importsOf(readText(file))
        .filter((name) =>
          name.startsWith('.')
            ? !/^(console\/src|src\/protocol)\//.test(normalize(join(dirname(file), name)))
            : !packages.includes(name) && !name.endsWith('.css'),
        )
        .map((name) => `${file} imports ${name}`),
  );
  expect(crossings).toEqual([]);
});

test('protocol needs nothing but zod, so that it also works in a browser', () => {
  const outside = files
    .filter((file) => partOf(file) === 'protocol')
    .flatMap((file) => importsOf(readText(file)).map((name) => `${file} imports ${name}`))
    .filter((line) => !/ imports (zod$|\.)/.test(line));
  expect(outside).toEqual([]);
});

test('no file is longer than a file should be', () => {
  const lengths = filesBelow('src', '').map((file) => ({
    file,
    lines: readText(file).split('\n').length - 1,
  }));
  expect(lengths.filter(({ lines }) => lines > longestFile)).toEqual([]);
});

/** Entry points, and files named after actions: their schemas, and the behaviours that test them. */
const mayShareNames = /\/(?:index|main)\.ts$|^src\/(?:protocol\/actions|testing\/contract\/behaviours)\//;
const mostShared = 8;

test('files of src have names of their own, with few exceptions', () => {
  const named = filesBelow('src', '').filter((file) => !mayShareNames.test(file));
  const names = named.map((file) => basename(file));
  const shared = named.filter((_, index) => names.indexOf(names[index] ?? '') !== index);
  expect(shared.length, shared.join(', ')).toBeLessThanOrEqual(mostShared);
});

test('what ships into cells imports zod as a namespace, so that the bundler leaves out what is not used', () => {
  const whole = files
    .filter((file) => /^src\/(protocol|cell|base)\//.test(file))
    .filter((file) => /^import \{ z \} from 'zod';$/m.test(readText(file)));
  expect(whole).toEqual([]);
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

function partOf(path: string): string | undefined {
  return Object.keys(walls)
    .filter((part) => isWithin(path, part))
    .sort((a, b) => b.length - a.length)[0];
}

function isWithin(path: string, part: string): boolean {
  const within = relative('src', path);
  return within === part || within.startsWith(`${part}/`);
}

function isOwn(name: string): boolean {
  return name.startsWith('.') && !name.endsWith('/package.json');
}
