/**
 * What somebody meets who installs the package: is everything in it, do its types compile, does the first program run?
 * Documented programs compile under every combination of settings, and run where they can, on every Node that we name.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkout, filesBelow, markdownPages, readText } from '../house/source.js';
import { followPage } from './documented-project.js';
import { link, type PackedProject, packedProject } from './packed-project.js';

const patience = 600_000;

let project: PackedProject;
beforeAll(async () => {
  project = await packedProject();
}, patience);
afterAll(() => rmSync(project.folder, { recursive: true, force: true }));

describe('the package', () => {
  test('has every file that its manifest names, and none of the sources', () => {
    const { installed, manifest } = project;
    const named = [
      ...Object.values(manifest.exports).flatMap((entry) => [entry.types, entry.default]),
      ...Object.values(manifest.bin),
      ...[
        'dist/cell/main.cjs',
        'README.md',
        'LICENSE',
        'docs/README.md',
        'llms.txt',
        'skills/workcell/SKILL.md',
      ],
    ];
    expect(named.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
    expect(readdirSync(installed).sort()).toEqual([
      ...['LICENSE', 'README.md', 'dist', 'docs', 'llms.txt', 'package.json', 'skills'],
    ]);
  });

  test('has all that its modules read beside them, and stays small', () => {
    const files = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(folder, name)).isFile(),
      );
    const beside = files(join(checkout, 'src')).filter((name) => !name.endsWith('.ts'));
    const packed = files(join(project.installed, 'dist'));
    expect(beside.filter((name) => !packed.includes(name))).toEqual([]);
    const bytes = packed.map((name) => statSync(join(project.installed, 'dist', name)).size);
    // A third of it is the command line in one file, beside the modules that programs import.
    expect(bytes.reduce((sum, more) => sum + more)).toBeLessThan(18_000_000);
  });

  test('brings the licences of what its console contains, which nobody installs', () => {
    const licences = readFileSync(join(project.installed, 'dist/console/licenses.md'), 'utf8');
    const named = [...licences.matchAll(/^## (\S+) - \S+ \((.*)\)$/gm)];
    expect(named.map(([, name]) => name)).toEqual(expect.arrayContaining(['react', '@xterm/xterm']));
    expect(named.filter(([, , licence = '']) => !['MIT', 'ISC'].includes(licence))).toEqual([]);
    expect(licences).toContain('Permission is hereby granted');
  });

  test('loads by each of its names, without any optional peer', () => {
    const { manifest, folder } = project;
    const names = Object.keys(manifest.exports).filter((name) => !needsPeer(name));
    const source = names
      .map((name) => `await import(${JSON.stringify(`workcell${name.slice(1)}`)});`)
      .join('\n');
    writeFileSync(join(folder, 'load.mjs'), source);
    expect(runNode(process.execPath, 'load.mjs')).toMatchObject({ status: 0, stderr: '' });
  });
});

/** Adapters whose signatures are in the words of a framework. */
function needsPeer(name: string): boolean {
  return /langchain|openai-agents/.test(name);
}

const plain = ['ES2023', 'ESNext.Disposable'];
const dom = ['ES2022', 'DOM'];
/** Who installs "@types/node" gets the newest; we compile with those of the oldest Node. */
const newest = 'newest-node-types';
const every = [
  ['nodenext', plain, '@types/node'],
  ['bundler', dom, '@types/node'],
  ['nodenext', dom, newest],
  ['bundler', plain, newest],
] as const;

function replaceNodeTypes(name: string): void {
  const place = join(project.folder, 'node_modules/@types/node');
  rmSync(place, { recursive: true });
  symlinkSync(join(checkout, 'node_modules', name), place);
}

/** The examples, and the peers that some of them use. */
function bringExamples(): void {
  const { folder, manifest } = project;
  if (existsSync(join(folder, 'examples'))) return;
  cpSync(join(checkout, 'examples'), join(folder, 'examples'), { recursive: true });
  link(folder, Object.keys(manifest.peerDependencies));
}

describe('the types', () => {
  beforeAll(() => {
    const { folder, manifest } = project;
    writePrograms(join(folder, 'programs'));
    bringExamples();
    const names = Object.keys(manifest.exports).map((name) => `workcell${name.slice(1)}`);
    const source = names.map((name, index) => `export * as entry${index} from '${name}';`).join('\n');
    writeFileSync(join(folder, 'programs/every-export.ts'), source);
    writeFileSync(join(folder, 'programs/streams.ts'), streams);
  });

  test.each(every)(
    'compile under %s with %s and %s in documented programs and examples, the declarations included',
    (moduleResolution, lib, nodeTypes) => {
      replaceNodeTypes(nodeTypes);
      const compilerOptions = {
        target: 'es2022',
        module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
        moduleResolution,
        lib,
        types: ['node'],
        strict: true,
        noEmit: true,
        skipLibCheck: false,
      };
      const config = { compilerOptions, include: ['programs', 'examples'] };
      writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify(config));
      const compiler = join(checkout, 'node_modules/.bin/tsc');
      const { stdout } = spawnSync(compiler, ['-p', project.folder], { encoding: 'utf8' });
      // What other packages declare is theirs to mend.
      const ours = stdout
        .split('\n')
        .filter((line) => /error TS/.test(line) && !/node_modules\/(?!workcell\/)/.test(line));
      expect(ours).toEqual([]);
    },
    patience,
  );
});

/** The streams of the AI SDK are the global ones, whoever declares them. */
const streams = `
import type { Runtime } from 'workcell';
import { aiSdkSandbox } from 'workcell/adapters/ai-sdk';

export async function copy(runtime: Runtime) {
  const sandbox = aiSdkSandbox(runtime);
  const content: ReadableStream<Uint8Array> | null = await sandbox.readFile({ path: 'a' });
  if (content !== null) await sandbox.writeFile({ path: 'b', content });
  const { stdin, stdout } = await sandbox.spawn({ command: 'cat', stdin: true });
  const both: { writable: WritableStream<Uint8Array>; readable: ReadableStream<Uint8Array> } = {
    writable: stdin,
    readable: stdout,
  };
  return both;
}
`;

function writePrograms(folder: string): void {
  mkdirSync(folder);
  for (const page of markdownPages()) {
    const programs = [...readText(page).matchAll(/^```ts(?: run)?\n([\s\S]*?)^```$/gm)];
    for (const [index, [, source]] of programs.entries())
      writeFileSync(join(folder, `${page.replaceAll(/[/.]/g, '-')}-${index}.ts`), `${source}\nexport {};\n`);
  }
}

function installedNode(folder: string): string {
  return join(checkout, folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
}

/** Among the frameworks where they are installed, and alone where only this gate is. */
const newestNode =
  [installedNode('.cache/frameworks'), installedNode('.cache/node-24')].find((path) => existsSync(path)) ??
  process.execPath;

/** All that we name. `scripts/setup --gate` brings those that do not run the tests. */
const nodes = [
  ['Node 20', process.version.startsWith('v20.') ? process.execPath : installedNode('.cache/node-20')],
  ['Node 22', process.version.startsWith('v22.') ? process.execPath : installedNode('.cache/node-22')],
  ['Node 24', newestNode],
] as const;

describe.each(nodes)('with %s', (name, node) => {
  test('it is the one that was asked for', () => {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' });
    expect(version).toMatch(`v${name.slice(5)}.`);
  });

  test("the README's first program runs as it stands", () => {
    const [, program = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readText('README.md')) ?? [];
    const { folder } = project;
    writeFileSync(join(folder, 'program.mjs'), program);
    const manifest = { type: 'module', private: true, scripts: { test: 'echo all well' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const { status, stdout, stderr } = runNode(node, 'program.mjs');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/all well[\s\S]*0 exit [\s\S]*\+only line/);
  });

  test('the command runs a command', () => {
    const bin = execFileSync(node, [join(project.installed, 'dist/cli/main.cjs'), 'run', 'echo $((6 * 7))']);
    expect(bin.toString()).toBe('42\n');
  });
});

/** Programs of the pages that say of themselves that they run anywhere. The newest Node takes TypeScript as it is. */
const runnable = markdownPages().flatMap((page) =>
  [...readText(page).matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map(([, source = ''], index) => ({
    name: `${page} ${index + 1}`,
    source,
  })),
);

test.each(runnable)(
  'the program $name runs as it stands',
  ({ name, source }) => {
    const folder = join(project.folder, name.replaceAll(/\W/g, '-'));
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
    writeFileSync(join(folder, 'program.ts'), source);
    const { status, stderr } = runNode(newestNode, 'program.ts', folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
  200_000,
);

/** Those with a place of their own to work in are in `test/examples`. */
const examples = filesBelow('examples', '.ts').filter((file) => !/\.d\.ts$|docker|remote/.test(file));

test.each(examples)(
  '%s runs as it stands',
  (file) => {
    bringExamples();
    const { status, stdout, stderr } = runNode(newestNode, file);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toBe('');
  },
  200_000,
);

test.each([
  ['docs/start/quick-start.md', /Welcome, Workcell/],
  ['docs/start/tutorial.md', /The test passes now/],
])('%s works as it stands', (page, outcome) => {
  expect(followPage(page, project)).toMatch(outcome);
});

function runNode(node: string, file: string, cwd = project.folder) {
  const { status, stdout, stderr } = spawnSync(node, [file], {
    cwd,
    encoding: 'utf8',
    timeout: 180_000,
  });
  return { status, stdout, stderr };
}
