/** A tree that the cell made, looked at with every verb for files while it stands still and while it changes. */
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { FileEntry } from '../../../src/index.js';
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const deadlineMs = 5000;

export const trees: Surface = {
  backends: ['sandbox', 'docker'],
  mostBytes: 256 << 20,

  async warmUp(round) {
    const { runtime, inside } = round;
    await runtime.run(inside('trees', 3, 'tree', 2000));
    // Twice: some choose one of several ways.
    for (const look of [...looks, ...looks]) await look(round);
    await runtime.files.remove('tree', { recursive: true }).catch(() => {});
  },

  async round(round) {
    const { runtime, inside, seed, random, answered } = round;
    const made = await answered('making a tree', 20_000, () =>
      runtime.run(inside('trees', seed, 'tree'), { timeoutMs: 20_000 }),
    );
    // What a slow machine made of the tree by then is a tree, too.
    if (made?.endedBy === 'exit' && made.exitCode !== 0)
      throw new Error(`The generator failed: ${made?.output}`);
    for (let count = 0; count < 5; count++) await random.pick(looks)(round);
    await answered('removing a tree', 10_000, (signal) =>
      runtime.execute({ action: 'remove', path: 'tree', recursive: true, force: true }, { signal }),
    );
    await answered('removing what is left', 20_000, () =>
      runtime.run('chmod -R u+rwx tree; rm -rf tree', { timeoutMs: 20_000 }),
    );
  },
};

const looks: readonly ((round: Round) => Promise<void>)[] = [
  async (round) => {
    const { runtime, random, answered } = round;
    const depth = random.pick([1, 1, 3, 64]);
    const told = await answered('list', deadlineMs, (signal) =>
      runtime.execute(
        { action: 'list', path: 'tree', depth, ...(random.chance(0.5) && { limit: 100_000 }) },
        { signal },
      ),
    );
    if (told !== undefined) await expectTrue(round, told.entries, depth === 1 && !told.truncated);
  },
  async ({ runtime, random, answered }) => {
    await answered('glob', deadlineMs, (signal) =>
      runtime.execute(
        {
          action: 'glob',
          path: 'tree',
          pattern: random.pick(['**', '*', '**/needle*', '{a,b}*', '[', '*'.repeat(30), '**/**/**/*x*y*z']),
          hidden: random.chance(0.5),
          ignored: true,
        },
        { signal },
      ),
    );
  },
  async ({ runtime, random, answered }) => {
    await answered('grep', deadlineMs, (signal) =>
      runtime.execute(
        {
          action: 'grep',
          path: 'tree',
          pattern: random.pick(['needle', '^$', '(a+)+b', '.', '\\n']),
          hidden: true,
          ignored: true,
          context: random.pick([0, 100]),
          limit: random.pick([10, 100_000]),
        },
        { signal },
      ),
    );
  },
  async ({ runtime, random, answered }) => {
    await answered('download of a tree', deadlineMs, async (signal) => {
      const { content } = await runtime.files.download('tree', {
        format: random.pick(['tar', 'zip']),
        signal,
      });
      for await (const chunk of content) if (chunk.length === 0) break;
    });
  },
  async ({ runtime, answered, claim }) => {
    const { entries } = await runtime
      .execute({ action: 'list', path: 'tree', limit: 30 })
      .catch(() => ({ entries: [] }));
    for (const { path, sizeBytes, type } of entries) {
      if (type === 'directory') continue;
      const read = await answered(`read of ${JSON.stringify(path)}`, deadlineMs, (signal) =>
        runtime.execute({ action: 'read', path }, { signal }),
      );
      if (read !== undefined)
        claim(
          type === 'symlink' || (type === 'file' && read.sizeBytes === sizeBytes),
          `${path} has ${sizeBytes} bytes and was read with ${read.sizeBytes}`,
        );
    }
  },
  async ({ runtime, answered, claim }) => {
    const { entries } = await runtime
      .execute({ action: 'list', path: 'tree', limit: 30 })
      .catch(() => ({ entries: [] }));
    for (const { path, type } of entries) {
      const edit = (change: object) =>
        answered(`edit of ${JSON.stringify(path)}`, deadlineMs, (signal) =>
          runtime.execute({ action: 'edit', path, ...change }, { signal }),
        );
      const edited = await edit({ oldText: 'needle', newText: 'thread', replaceAll: true });
      claim(
        edited === undefined || type === 'file' || type === 'symlink',
        `${path} is a ${type}, and was edited`,
      );
      if (edited !== undefined) await edit({ undo: true });
    }
  },
  async ({ runtime, answered }) => {
    await answered('copy of a tree', deadlineMs, (signal) =>
      runtime.execute({ action: 'copy', from: 'tree', to: 'copied', overwrite: true }, { signal }),
    );
    await answered('removing a copy', 20_000, () =>
      runtime.run('chmod -R u+rwx copied; rm -rf copied', { timeoutMs: 20_000 }),
    );
  },
  /** Changes faster than anybody can look. */
  async ({ runtime, answered }) => {
    await answered('watch', 1000, async (signal) => {
      const changes = await runtime.files.watch('.', { signal });
      const churn = runtime.run('for i in {1..20000}; do : >tree/c$((i % 50)); done', { timeoutMs: 800 });
      // It may fail while the loop waits, and a busy container answers late; what counts is that the watch ends.
      churn.catch(() => {});
      for await (const change of changes) if (change.path === '') break;
      await churn;
    });
  },
];

/** What the answer names exists, and is what the answer says. */
async function expectTrue(
  { runtime, outside, claim }: Round,
  entries: readonly FileEntry[],
  whole: boolean,
): Promise<void> {
  if (outside === undefined) return;
  for (const { path, type } of entries.slice(0, 300)) {
    // No answer can carry a name that is not text.
    if (path.includes('\ufffd')) continue;
    const found = await lstat(join(outside, relative(runtime.workspace, path))).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    claim(
      typeof found === 'object' || found === 'ENAMETOOLONG',
      `${JSON.stringify(path)} is told and not there: ${String(found)}`,
    );
    if (typeof found === 'object')
      claim(
        found.isDirectory() === (type === 'directory') && found.isSymbolicLink() === (type === 'symlink'),
        `${JSON.stringify(path)} is told as ${type}`,
      );
  }
  if (!whole) return;
  const there = (await readdir(join(outside, 'tree'))).length;
  claim(there === entries.length, `${there} names are there, ${entries.length} are told`);
}
