/** What a command starts and loads, which costs the same on every machine. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtFile } from '../built-file.js';
import { withDirectory, workcell } from './workcell.js';

/** Runs with every start of a program and every module of Node written down. */
function witnessed(directory: string, words: readonly string[]): { started: string[]; modules: string[] } {
  const [witness, list] = [join(directory, 'witness.cjs'), join(directory, 'list')];
  writeFileSync(
    witness,
    `const { ChildProcess } = require('node:child_process');
const { basename } = require('node:path');
const { spawn } = ChildProcess.prototype;
const started = [];
ChildProcess.prototype.spawn = function (options) {
  started.push(basename(options.file));
  return spawn.call(this, options);
};
process.on('exit', () =>
  require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify({ started, modules: process.moduleLoadList })),
);`,
  );
  const state = join(directory, 'state');
  mkdirSync(state, { recursive: true });
  const argv = ['--require', witness, builtFile('cli/main.cjs'), ...words];
  const env = { ...process.env, XDG_CACHE_HOME: directory, XDG_STATE_HOME: state };
  const { status, stderr } = spawnSync(process.execPath, argv, { cwd: state, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(readFileSync(list, 'utf8')) as { started: string[]; modules: string[] };
}

test('run starts one program itself, a small shell that starts the others', () =>
  withDirectory(async (directory) => {
    expect(witnessed(directory, ['run', 'true']).started).toEqual(['bash']);
  }));

test('run loads nothing of Node for servers, archives, workers or questions', () =>
  withDirectory(async (directory) => {
    const { modules } = witnessed(directory, ['run', 'true']);
    const own = modules.map((name) => name.replace(/^NativeModule /, ''));
    const heavy = ['http', 'https', 'http2', 'tls', 'zlib', 'worker_threads', 'readline', 'dns', 'inspector'];
    expect(own.filter((name) => heavy.includes(name))).toEqual([]);
  }));

test.each([
  ['of a cell of its own', [], undefined, []],
  ['of a cell that is kept', ['--keep-alive'], undefined, ['browser', 'jupyter', 'mcp', 'tools', 'vscode']],
  ['that somebody chose', [], '["mcp"]', ['mcp']],
])('run has the plugins %s', (_, words, chosen, plugins) =>
  withDirectory(async (directory) => {
    const env = { XDG_STATE_HOME: directory, ...(chosen && { WORKCELL_PLUGINS: chosen }) };
    const argv = ['run', '--backend', 'sandbox', '--verbose', ...words, 'true'];
    const { stderr, exitCode } = await workcell(argv, { env, cwd: directory });
    const cell = /cell (\w+) goes on/.exec(stderr)?.[1];
    if (cell !== undefined) await workcell(['cells', 'stop', cell], { env });
    expect(exitCode).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    const ready = lines.map((line) => JSON.parse(line) as { msg: string; plugins?: string[] });
    expect(ready.find(({ msg }) => msg === 'The trusted side is ready')?.plugins).toEqual(plugins);
  }),
);
