import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { Command } from 'commander';
import { findProgram, hostPath } from '../../base/find-program.js';
import { programText } from '../../base/program-text.js';
import { discardTree } from '../../base/remove-tree.js';
import { quote } from '../../base/shell-quote.js';
import { reachTrusted } from '../../base/trusted-path.js';
import { makeScratch } from '../../cell/launchers/scratch.js';
import { WorkcellError } from '../../protocol/index.js';
import { type ServerOptions, withServerOptions } from '../server-options.js';

const notes = `
Runs a program that uses CAMEL's RemoteHttpRuntime, unchanged. Where that starts
its own tool server with "python3", this command's server starts in its place,
with the options that you give here, and imports the toolkits in a cell. On the
sandbox backend the cell sees that python3, with the packages that it has.
Requests to that server carry a password that the program need not know; a
python3 with -I or -E does not add it.

Examples:
  $ workcell camel-run -- python3 quick_start.py
  $ workcell camel-run --workspace . --guard rules -- python3 agent.py`;

/** `workcell camel-run`: a program whose CAMEL runtimes get this server in place of their own. */
export function camelRunCommand(): Command {
  return withServerOptions(
    new Command('camel-run').description('Run a program whose CAMEL tools then run in a cell'),
  )
    .argument('<command...>', 'the program and its arguments')
    .usage('[options] -- <command...>')
    .passThroughOptions()
    .addHelpText('after', notes)
    .action(run);
}

async function run(words: string[], options: ServerOptions): Promise<void> {
  const own = process.argv.slice(process.argv.indexOf('camel-run') + 1);
  const given = own.slice(0, own.length - words.length).filter((word) => word !== '--');
  // The next start removes it if something kills this one.
  const folder = makeScratch('camel');
  try {
    process.exitCode = await runWith(words, environment(folder, given, originsOf(options)));
  } finally {
    await discardTree(folder);
  }
}

/** Where the program finds the server: what CAMEL calls is always this machine. */
function originsOf({ listen }: ServerOptions): string[] {
  const port =
    listen === undefined ? Number(process.env.CAMEL_SERVER_PORT || 8000) : 'port' in listen && listen.port;
  if (port === false) return [];
  const given = listen !== undefined && 'host' in listen ? [listen.host] : [];
  return [...new Set(['localhost', '127.0.0.1', '::1', ...given])].map((host) => `${host}:${port}`);
}

/** A `python3` first in the search path, and a module that gives the password to CAMEL's HTTP library for these origins. */
function environment(
  folder: string,
  options: readonly string[],
  origins: readonly string[],
): NodeJS.ProcessEnv {
  const { PATH = '', PYTHONPATH } = process.env;
  const python = realPython();
  const server = [process.execPath, ...process.execArgv, process.argv[1] ?? '', 'camel-server'];
  const shim = join(folder, 'python3');
  // What the server starts is not for this module.
  const before = PYTHONPATH === undefined ? 'unset PYTHONPATH' : `PYTHONPATH=${quote(PYTHONPATH)}`;
  const script = [
    '#!/bin/sh',
    `case "$1" in */camel/runtimes/api.py) ${before}; exec ${server.map(quote).join(' ')} ${options.map(quote).join(' ')} "$@";; esac`,
    `exec ${quote(python)} "$@"`,
  ];
  writeFileSync(shim, `${script.join('\n')}\n`);
  chmodSync(shim, 0o700);
  const token = randomBytes(24).toString('hex');
  const modules = join(folder, 'modules');
  mkdirSync(modules);
  writeFileSync(join(modules, 'sitecustomize.py'), programText('camel-password.py', import.meta.url));
  writeFileSync(join(modules, 'server.json'), JSON.stringify({ origins, token }), { mode: 0o600 });
  const { WORKCELL_BACKENDS_SANDBOX_PYTHON: chosen = python } = process.env;
  return {
    ...process.env,
    PATH: `${folder}${delimiter}${PATH}`,
    PYTHONPATH: [modules, PYTHONPATH].filter(Boolean).join(delimiter),
    CAMEL_SERVER_TOKEN: token,
    WORKCELL_BACKENDS_SANDBOX_PYTHON: chosen,
  };
}

/**
 * The program itself, where the first in the search path is a script that chooses one. An environment in the project counts
 * only while it is activated: agents that work there can put a `python3` into any other directory of the search path.
 */
function realPython(): string {
  const { VIRTUAL_ENV, CONDA_PREFIX } = process.env;
  const chosen = [VIRTUAL_ENV, CONDA_PREFIX].flatMap((path) => (path ? [resolve(path, 'bin')] : []));
  const env = { ...process.env, PATH: hostPath({ chosen }) };
  const found = findProgram('python3', env.PATH);
  if (found === undefined) {
    throw new WorkcellError(
      'invalid-config',
      'There is no python3 on the search path outside of this project. Install it, with camel-ai, or activate the environment that has it.',
    );
  }
  try {
    reachTrusted(found)[Symbol.dispose]();
    const program = 'import sys; print(sys.executable)';
    return execFileSync(found, ['-I', '-c', program], { env, encoding: 'utf8' }).trim();
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    throw new WorkcellError('invalid-config', `The python3 at ${found} does not run: ${reason}.`, {
      details: { python: found },
      cause,
    });
  }
}

function runWith([program = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' });
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    // A terminal sends Ctrl-C to both; the program decides.
    const wait = () => {};
    process.on('SIGTERM', pass).on('SIGHUP', pass).on('SIGINT', wait);
    child.once('error', (cause) => {
      const message = `${program} cannot be started: ${cause.message}.`;
      reject(new WorkcellError('spawn-failed', message, { details: { program }, cause }));
    });
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', pass).off('SIGHUP', pass).off('SIGINT', wait);
      resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]);
    });
  });
}
