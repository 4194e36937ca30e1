/** Programs in other languages: each in a file of its own that its language takes, beside the module that starts it. */
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { parse, type TemplateElement } from 'acorn';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { checkout, filesBelow, readText } from './source.js';

const programs = filesBelow('src', '').filter((file) => !file.endsWith('.ts'));
const modules = filesBelow('src', '.ts');

test('every program is started by a module beside it, and every one that is started is there', () => {
  const named = modules.flatMap((file) =>
    [...readText(file).matchAll(/['"]([\w-]+\.(?:py|pl|sh|bash|fish|mjs|cjs))['"]/g)].map(([, name = '']) =>
      join(dirname(file), name),
    ),
  );
  expect(programs.filter((file) => !named.includes(file))).toEqual([]);
  const asked = modules.flatMap((file) =>
    [...readText(file).matchAll(/programText\('([^']+)'/g)].map(([, name = '']) => join(dirname(file), name)),
  );
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.filter((file) => !programs.includes(file))).toEqual([]);
});

test('a bundle knows them by their names, so no two have the same', () => {
  const names = programs.map((file) => basename(file));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('Python takes those in Python', () => {
  const compile = 'import sys\nfor name in sys.argv[1:]: compile(open(name).read(), name, "exec")';
  expect(checks('python3', ['-I', '-c', compile, ...ending('.py')])).toEqual({ status: 0, stderr: '' });
});

test('a shell takes those for shells', () => {
  for (const file of ending('.sh'))
    expect(checks('sh', ['-n', file]), file).toEqual({ status: 0, stderr: '' });
  for (const file of ending('.bash'))
    expect(checks('bash', ['-n', file]), file).toEqual({ status: 0, stderr: '' });
  for (const file of ending('.fish'))
    expect(checks('fish', ['--no-execute', file]), file).toEqual({ status: 0, stderr: '' });
});

test('Perl takes those in Perl', () => {
  for (const file of ending('.pl')) expect(checks('perl', ['-c', file]), file).toMatchObject({ status: 0 });
});

test('Node takes those in JavaScript', () => {
  for (const file of [...ending('.cjs'), ...ending('.mjs')])
    expect(checks(process.execPath, ['--check', file]), file).toEqual({ status: 0, stderr: '' });
});

/** An attack on a cell, or a trial in one, stands in the case that says its result. */
const isCase = (file: string) => file.startsWith('src/testing/');
const fewLines = 10;
const looksLikeProgram =
  /^\s*(?:import \w|from \w+ import|def \w|(?:async )?function \w|(?:const|let) [\w{]|\w+=\$\(|(?:while|for) .*; do$|if .*; then$)/m;

test('none of more than a few lines stands in a string', () => {
  const embedded = modules.filter((file) => !isCase(file) && longPrograms(readText(file)).length > 0);
  expect(embedded).toEqual([]);
});

test('the reader sees a program in a string', () => {
  const lines = Array.from({ length: 9 }, (_, index) => `  x${index} = 1`).join('\n');
  expect(longPrograms(`export const a: string = String.raw\`\ndef f():\n${lines}\`;`)).toHaveLength(1);
  expect(longPrograms(`const a = \`one\`;\nfunction f() {\n${lines}\n}\nconst b = \`two\`;`)).toEqual([]);
});

function longPrograms(source: string): string[] {
  if (!source.includes('`')) return [];
  const { code } = transformSync(source, { loader: 'ts', target: 'esnext' });
  return [...templatesIn(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))].filter(
    (text) => text.split('\n').length > fewLines && looksLikeProgram.test(text),
  );
}

/** The fixed parts of every template literal. */
function* templatesIn(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { type, quasis } = node as { type?: unknown; quasis?: readonly TemplateElement[] };
  if (type === 'TemplateLiteral') yield (quasis ?? []).map(({ value }) => value.raw).join('');
  for (const child of Object.values(node)) yield* templatesIn(child);
}

function ending(end: string): string[] {
  return programs.filter((file) => file.endsWith(end));
}

function checks(program: string, words: readonly string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(program, words, { cwd: checkout, encoding: 'utf8' });
  return { status, stderr };
}
