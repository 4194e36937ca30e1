/** Looks at a git repository. Nothing that the repository configures is run. */
import { execFile } from 'node:child_process';
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { createPlace, type PlaceOptions } from './place.js';

const longestOutput = 4 * 1024 * 1024;

const calm = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['diff.external', ''],
  ['core.sshCommand', 'false'],
  ['protocol.allow', 'never'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

const revision = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^-\s]\S*$/, 'must not begin with - or contain spaces');
const paths = z.array(z.string().min(1)).default([]);

export function gitToolkit(options: PlaceOptions = {}): FunctionTool[] {
  const { base } = createPlace(options);
  const run = (args: string[], signal: AbortSignal) => git(base, args, signal);
  return [
    tool({
      name: 'git_status',
      description: 'Shows the branch and the changed files.',
      readOnly: true,
      execute: (_input, { signal }) =>
        run(['status', '--short', '--branch', '--untracked-files=all'], signal),
    }) as FunctionTool,
    tool({
      name: 'git_log',
      description: 'Shows the last commits.',
      parameters: z.object({
        count: z.int().min(1).max(500).default(20),
        revision: revision.default('HEAD'),
        paths,
      }),
      readOnly: true,
      execute: ({ count, revision: from, paths: only }, { signal }) =>
        run(
          [
            'log',
            `-n${count}`,
            '--date=iso',
            '--format=%h %ad %an: %s',
            '--end-of-options',
            from,
            '--',
            ...only,
          ],
          signal,
        ),
    }) as FunctionTool,
    tool({
      name: 'git_diff',
      description: 'Shows what changed since a revision; without one, what is not committed.',
      parameters: z.object({ revision: revision.default('HEAD'), paths }),
      readOnly: true,
      execute: ({ revision: from, paths: only }, { signal }) =>
        run(['diff', '--no-ext-diff', '--no-textconv', '--end-of-options', from, '--', ...only], signal),
    }) as FunctionTool,
    tool({
      name: 'git_show',
      description: 'Shows a commit, or a file as it was: revision:path.',
      parameters: z.object({ revision }),
      readOnly: true,
      execute: ({ revision: what }, { signal }) =>
        run(['show', '--no-ext-diff', '--no-textconv', '--end-of-options', what], signal),
    }) as FunctionTool,
    tool({
      name: 'git_blame',
      description: 'Shows who last changed each line of a file.',
      parameters: z.object({ path: z.string().min(1) }),
      readOnly: true,
      execute: ({ path }, { signal }) => run(['blame', '--date=short', '--', path], signal),
    }) as FunctionTool,
  ];
}

function git(cwd: string, args: string[], signal: AbortSignal): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      [...calm, '--no-pager', ...args],
      { cwd, env, signal, maxBuffer: longestOutput },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr.trim() || error.message));
      },
    );
  });
}
