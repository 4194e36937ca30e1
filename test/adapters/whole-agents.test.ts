/**
 * The whole agents of the pages, with the real frameworks: each compiles as it stands, and repairs the failing test of a
 * project when a script plays its model.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtFile } from '../built-file.js';
import { checkout, filesBelow, readText } from '../house/source.js';
import { compile, folder as frameworks, node, obstacle, patience } from './frameworks.js';

const pages = filesBelow('docs/guides/adapters', '.md').map((page) => ({
  name: page.replace(/^.*\/(.*)\.md$/, '$1'),
  programs: [...readText(page).matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, source = '']) => source),
}));

describe.skipIf(obstacle)(obstacle ?? 'a whole agent', patience, () => {
  test('of every page there is one, and it compiles', () => {
    expect(pages.filter(({ programs }) => programs.length !== 1)).toEqual([]);
    const files = pages.map(({ name, programs: [source = ''] }) => [`${name}.mts`, source]);
    expect(compile(Object.fromEntries([...files, ['model.d.mts', 'export declare const model: any;']]))).toBe(
      '',
    );
  });

  test.each(pages)('$name repairs the test', ({ name, programs: [source = ''] }) => {
    const { status, output, repaired } = runIn(name, source);
    expect({ output, status }).toMatchObject({ status: 0, output: expect.stringContaining(said(name)) });
    if (name !== 'computesdk') expect(repaired).toContain('a + b');
  });
});

const said = (name: string) => (name === 'computesdk' ? 'Hello, you' : 'It subtracted.');

/** Runs the program in a project of its own, with the packages that it names and the script of its model beside it. */
function runIn(name: string, source: string) {
  const place = mkdtempSync(join(tmpdir(), 'workcell-agent-'));
  try {
    const scripts = join(checkout, 'test/adapters/scripts');
    cpSync(scripts, place, { recursive: true });
    cpSync(join(scripts, 'project'), place, { recursive: true });
    writeFileSync(join(place, 'agent.mjs'), adapted(name, source));
    const modules = readdirSync(place).filter((file) => file.endsWith('.mjs'));
    for (const file of modules) linkImports(place, readFileSync(join(place, file), 'utf8'));
    if (modules.includes(`${name}.mjs`)) renameSync(join(place, `${name}.mjs`), join(place, 'model.mjs'));
    // No program reports to anybody.
    const silent = { OPENAI_AGENTS_DISABLE_TRACING: '1', MASTRA_TELEMETRY_DISABLED: '1' };
    const { stdout, stderr, status } = spawnSync(node, ['agent.mjs'], {
      cwd: place,
      env: { ...process.env, ...silent },
      encoding: 'utf8',
      // Only against one that hangs.
      timeout: 280_000,
    });
    return { status, output: `${stdout}${stderr}`, repaired: readFileSync(join(place, 'sum.mjs'), 'utf8') };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Where the agent is a program that the page's starts, the script takes its place. */
function adapted(name: string, source: string): string {
  if (name === 'acp')
    return source.replace("spawn('my-agent', ['--acp']", "spawn(process.execPath, ['model.mjs']");
  if (name !== 'claude-agent-sdk') return source;
  return source.replace(
    'tools: [],',
    "tools: [], pathToClaudeCodeExecutable: './model.mjs', executable: process.execPath,",
  );
}

function linkImports(place: string, source: string): void {
  for (const [, name = ''] of source.matchAll(/from '((?:@[^/']+\/)?[a-z][^/']*)/g)) {
    if (name.startsWith('node:')) continue;
    const link = join(place, 'node_modules', name);
    const from = [frameworks, checkout]
      .map((root) => join(root, 'node_modules', name))
      .find((path) => existsSync(path));
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link))
      symlinkSync(name === 'workcell' ? dirname(dirname(builtFile('index.js'))) : (from ?? name), link);
  }
}
