/** Looks at a git repository. Runs nothing that the repository configures. */
import { execFile } from 'node:child_process';
import { z } from 'zod';
import { againstFilters, filterQuestion, inspectionVariables } from '../../../base/git-settings.js';
import { type FunctionTool, tool } from '../function-tool.js';
import { checkOptions } from './toolkit-options.js';
import { createPlace, type PlaceOptions } from './toolkit-place.js';

const longestOutput = 4 * 1024 * 1024;

const revision = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^-\s]\S*$/, 'must not begin with - or contain spaces');
const paths = z.array(z.string().min(1)).default([]);

/** Makes tools that look at a git repository and start nothing that it configures. */
export function gitToolkit(options: PlaceOptions = {}): FunctionTool[] {
  checkOptions('gitToolkit', options, ['root']);
  const { base } = createPlace(options);
  const run = (args: readonly string[], signal: AbortSignal) => inspect(base, args, signal);
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
      execute: ({ path }, { signal }) => run(['blame', '--no-textconv', '--date=short', '--', path], signal),
    }) as FunctionTool,
  ];
}

/** Git that ignores every setting of the repository which would start a program. */
async function inspect(cwd: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const settings = againstFilters(await git(cwd, filterQuestion, inspectionVariables([]), signal));
  if (settings === undefined)
    throw new Error('Git is older than 2.31 and would start what a repository names; install a newer one.');
  return git(cwd, args, inspectionVariables(settings), signal);
}

function git(
  cwd: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  // Pass nothing else of the environment, which could lead git elsewhere.
  const env = { ...variables, PATH: process.env.PATH };
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      ['--no-pager', '--literal-pathspecs', ...args],
      { cwd, env, signal, maxBuffer: longestOutput },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr.trim() || error.message));
      },
    );
  });
}
