import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keep } from '../../../src/backends/images/bundle/bundle-store.js';
import { bundleMount, executorBundle } from '../../../src/backends/images/bundle/executor-bundle.js';
import { connectExecutor } from '../../../src/runtime/client/http-executor.js';

const scratch = mkdtempSync(join(tmpdir(), 'bundle-test-'));
const cache = join(scratch, 'cache/workcell');
const before = process.env.XDG_CACHE_HOME;

beforeAll(() => {
  process.env.XDG_CACHE_HOME = join(scratch, 'cache');
});

afterAll(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
  rmSync(scratch, { recursive: true, force: true });
});

test('makers at the same time give the same directory and leave no draft', async () => {
  const umask = process.umask(0o077);
  const [one, other] = await Promise.all([executorBundle(), executorBundle()]).finally(() =>
    process.umask(umask),
  );
  expect(one).toMatchObject({ directory: other.directory, hash: other.hash });
  expect(readdirSync(cache).sort()).toEqual([
    expect.stringMatching(/^executor-[\da-f]{16}$/),
    expect.stringMatching(/^node-[\da-f]{16}$/),
  ]);
  const entries = readdirSync(one.directory, { recursive: true, encoding: 'utf8' });
  expect(entries.length).toBeGreaterThan(5);
  for (const entry of entries) expect(statSync(join(one.directory, entry)).mode & 0o044).toBe(0o044);
});

test('it starts where there is nothing else, not even a C library', async () => {
  const bundle = await executorBundle();
  const start = (...words: string[]) =>
    spawnSync(
      'bwrap',
      [
        ...['--unshare-all', '--clearenv', '--proc', '/proc', '--dev', '/dev'],
        ...['--ro-bind', bundle.directory, bundleMount],
        ...words,
      ],
      { encoding: 'utf8' },
    );
  const { stdout, stderr } = start(...bundle.command(), 'executor', '--help');
  expect(stderr).toBe('');
  expect(stdout).toContain('Serve this machine, or a cell, over HTTP');

  // What opens terminals has libraries of its own.
  const addon = `${bundleMount}/node_modules/@lydell/node-pty-linux-${process.arch}/pty.node`;
  const loaded = start(...bundle.command().slice(0, -1), '-p', `typeof require('${addon}').fork`);
  expect(loaded).toMatchObject({ stderr: '', stdout: 'function\n' });
});

test('its compiled form fits, and a package that cannot be bundled is beside it', async () => {
  const bundle = await executorBundle();
  const check = `
    const { readFileSync } = require('node:fs');
    const { Script } = require('node:vm');
    const cachedData = readFileSync('program.cache');
    const script = new Script(readFileSync('program.js', 'latin1'), { cachedData });
    console.log(script.cachedDataRejected);`;
  const [program = '', ...words] = bundle.command(bundle.directory).slice(0, -1);
  const { stdout } = spawnSync(program, [...words, '-e', check], { cwd: bundle.directory, encoding: 'utf8' });
  expect(stdout).toBe('false\n');
  // From the function that opens a shell: what a first command runs is in it too.
  expect(readFileSync(join(bundle.directory, 'program.cache'), 'latin1')).toContain('--noediting');
  expect(readdirSync(bundle.directory)).not.toContain('maker.cjs');
});

test('a package that cannot be bundled is beside it, and is found without a word', async () => {
  const bundle = await executorBundle();
  const directory = join(scratch, 'other-program');
  mkdirSync(directory);
  symlinkSync(join(bundle.directory, 'node_modules'), join(directory, 'node_modules'));
  copyFileSync(join(bundle.directory, 'executor.cjs'), join(directory, 'executor.cjs'));
  writeFileSync(
    join(directory, 'program.js'),
    "(exports, require) => console.log(require('playwright-core').chromium.name());",
  );
  const [program = '', ...words] = bundle.command(bundle.directory).slice(0, -1);
  const browser = spawnSync(program, [...words, join(directory, 'executor.cjs')], { encoding: 'utf8' });
  expect(browser.stderr).toBe('');
  expect(browser.stdout).toBe('chromium\n');
});

test('it serves commands on a terminal, whose environment says nothing of how it was started', async () => {
  const bundle = await executorBundle();
  const workspace = join(scratch, 'workspace');
  const socketPath = join(scratch, 'socket');
  mkdirSync(workspace);
  const [program, ...words] = bundle.command(bundle.directory);
  const server = spawn(
    program as string,
    [...words, 'executor', '--listen', `unix:${socketPath}`, '--workspace', workspace],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH } },
  );
  onTestFinished(async () => {
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  });
  await once(server.stdout, 'data');
  const { executor, info } = await connectExecutor({ socketPath }, {});
  onTestFinished(() => executor.close());
  expect(info.version).toMatch(/^\d+\.\d+\.\d+/);
  const run = (command: string) =>
    executor.execute({ action: 'run', command, session: 'default', maxOutputBytes: 10_000 });
  expect(await run('printf "gone\\033[2J\\033[Hseen"')).toMatchObject({ exitCode: 0, output: 'seen' });
  const env = await run('tty; env');
  expect(env).toMatchObject({ output: expect.stringMatching(/^\/dev\/pts\//) });
  expect(JSON.stringify(env)).not.toMatch(/LD_|NODE_|executor-/);
});

test('a version that nobody has used for long goes when a new one is made; the others stay', async () => {
  const month = 31 * 24 * 60 * 60 * 1000;
  const others = { old: join(cache, 'executor-old'), recent: join(cache, 'executor-recent') };
  for (const path of Object.values(others)) mkdirSync(path, { recursive: true });
  const longAgo = new Date(Date.now() - month);
  utimesSync(others.old, longAgo, longAgo);
  const { directory } = await executorBundle();
  rmSync(directory, { recursive: true });
  await executorBundle();
  expect(readdirSync(cache)).toContain('executor-recent');
  expect(readdirSync(cache)).not.toContain('executor-old');
  rmSync(others.recent, { recursive: true });
});

test('what a killed maker left is removed, and a maker that fails leaves nothing', async () => {
  const parent = join(scratch, 'store');
  const dead = spawnSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).stdout.trim();
  const namespace = /\d+/.exec(
    spawnSync('readlink', ['/proc/self/ns/pid'], { encoding: 'utf8' }).stdout,
  )?.[0];
  mkdirSync(join(parent, `workcell-${process.geteuid?.()}-${namespace}-${dead}-1-draft`), {
    recursive: true,
  });
  const failing = keep(join(parent, 'entry'), (draft) => {
    writeFileSync(join(draft, 'half'), '');
    return Promise.reject(new Error('no space'));
  });
  await expect(failing).rejects.toThrow('no space');
  expect(readdirSync(parent)).toEqual([]);
});

test('a Node that cannot run in a container is refused with what to do', async () => {
  const node = join(scratch, 'node');
  writeFileSync(node, '#!/bin/sh\necho v20', { mode: 0o755 });
  await expect(executorBundle({ node })).rejects.toMatchObject({
    code: 'capability-unsupported',
    message: expect.stringContaining('Name one that is'),
  });
});

test('a cache that others may write to is not used, because what is in it would be run', async () => {
  const parent = join(scratch, 'open');
  mkdirSync(join(parent, 'entry'), { recursive: true });
  chmodSync(parent, 0o777);
  await expect(keep(join(parent, 'entry'), () => Promise.resolve())).rejects.toThrow(
    'can be written by other users',
  );
});

test('a cache that cannot be written is named', async () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  await expect(keep(join(file, 'cache', 'entry'), () => Promise.resolve())).rejects.toMatchObject({
    code: 'backend-unavailable',
    message: expect.stringContaining('XDG_CACHE_HOME'),
  });
});
