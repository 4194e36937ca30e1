/** Directories, repositories and processes with odd names, as the verbs tell them. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const deadlineMs = 10_000;

export const names: Surface = {
  backends: ['sandbox', 'docker'],
  mostBytes: 192 << 20,

  async warmUp(round) {
    await this.round(round);
  },

  async round(round) {
    const { runtime, inside, seed, answered } = round;
    await answered('making a repository', 20_000, () =>
      runtime.run(inside('names', seed, 'repo'), { timeoutMs: 20_000 }),
    );
    await repository(round);
    await directories(round);
    await processes(round);
  },
};

async function repository({ runtime, outside, answered, claim }: Round): Promise<void> {
  const git = runtime.git.at('repo');
  const changes = await answered('git.changes', deadlineMs, (signal) => git.changes({ signal }));
  for (const { path, status } of changes ?? []) {
    if (outside === undefined || path.includes('\ufffd') || status === 'deleted') continue;
    const there = await lstat(join(outside, 'repo', path)).then(
      () => true,
      () => false,
    );
    claim(there, `git.changes tells ${JSON.stringify(path)}, which is not there`);
  }
  await answered('git.status', deadlineMs, (signal) => git.status({ signal }));
  await answered('git.log', deadlineMs, (signal) => git.log({ signal }));
  await answered('git.branches', deadlineMs, (signal) => git.branches({ signal }));
  await answered('git.diff', deadlineMs, (signal) => git.diff({ signal }));
}

/** A shell that goes to a directory tells where it is. */
async function directories({ runtime, answered, claim }: Round): Promise<void> {
  const entries = await answered('list', deadlineMs, () => runtime.files.list('repo'));
  const first = entries?.find(
    ({ type, name }) => type === 'directory' && name !== '.git' && !name.includes('\ufffd'),
  );
  if (first === undefined) return;
  const path = `${runtime.workspace}/repo/${first.name}`;
  const told = await answered('run in a directory', deadlineMs, () =>
    runtime.run('cd -- "$DIRECTORY"', { env: { DIRECTORY: path }, timeoutMs: deadlineMs }),
  );
  claim(
    told?.cwd === path,
    `the shell is in ${JSON.stringify(path)} and told to be in ${JSON.stringify(told?.cwd)}`,
  );
  await answered('run in the workspace', deadlineMs, () =>
    runtime.run(`cd ${runtime.workspace}`, { timeoutMs: deadlineMs }),
  );
}

/** A process may call itself what it likes. */
async function processes({ runtime, random, answered, claim }: Round): Promise<void> {
  const name = random.pick([
    '(sd-pam) 1 S 1 1',
    'bash) R 0 0',
    '\n\n',
    '%s%n',
    ' ',
    'x'.repeat(5000),
    '\x1b[2J',
  ]);
  const argv = ['bash', '-c', 'exec -a "$0" sleep 100', name];
  const started = await answered('processes.start', deadlineMs, () => runtime.processes.start(argv));
  if (started === undefined) return;
  const told = await answered('processes.list', deadlineMs, () => runtime.processes.list());
  const own = told?.find(({ id }) => id === started.id);
  claim(own?.running === true, 'a process that runs is told to have ended');
  await answered('stats', deadlineMs, () => runtime.stats());
  await answered('processes.signal', deadlineMs, () => runtime.processes.signal(started.id, 'SIGKILL'));
  const end = await answered('processes.wait', deadlineMs, (signal) =>
    runtime.processes.wait(started.id, { signal }),
  );
  claim(end?.signal === 'SIGKILL', `a process that was killed is told to have ended by ${end?.signal}`);
}
