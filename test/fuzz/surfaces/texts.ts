/** Long texts: edited and read, told to agents, printed by programs and by something that stands in for git. */
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const deadlineMs = 10_000;

export const texts: Surface = {
  backends: ['sandbox'],
  // Text in all its forms: as bytes, as characters, changed, and as the answer.
  mostBytes: 768 << 20,

  async warmUp(round) {
    const { runtime, inside } = round;
    await runtime.run('git init -q repo');
    await runtime.write('long', 'a\nEND\n');
    for (const look of looks) await look(round);
    await runtime.run(inside('texts', 1, 'agents', '.workcell/microagents'));
  },

  async round(round) {
    await round.random.pick(looks)(round);
  },
};

const looks: readonly ((round: Round) => Promise<void>)[] = [
  async (round) => {
    const { runtime, random, answered, claim } = round;
    await make(round, 'text', 'long');
    const edit = (change: object) =>
      answered(`edit ${JSON.stringify(change).slice(0, 100)}`, deadlineMs, (signal) =>
        runtime.execute({ action: 'edit', path: 'long', ...change }, { signal }),
      );
    const edited = await edit({ oldText: 'END', newText: 'FIN' });
    claim(
      edited === undefined || /^-.*END\r?\n\+.*FIN\r?$/m.test(edited.diff) || edited.diff.length > 10_000,
      'the diff of an edit does not show it',
    );
    await edit(
      random.pick<object>([
        { oldText: 'absent', newText: 'x' },
        { oldText: 'needle\nneedle\nabsent', newText: 'x' },
        { oldText: 'a', newText: 'x' },
        { oldText: '\n', newText: 'x', replaceAll: true },
        { oldText: 'a', newText: '\n', replaceAll: true },
        { oldText: 'a', newText: 'long '.repeat(1000), replaceAll: true },
        { insertLine: random.size(20_000_000), newText: 'x' },
      ]),
    );
    if (edited !== undefined) await edit({ undo: true });
  },
  async (round) => {
    const { runtime, random, answered } = round;
    await make(round, 'text', 'long');
    await answered('read', deadlineMs, (signal) =>
      runtime.execute(
        {
          action: 'read',
          path: 'long',
          ...random.pick([{}, { maxBytes: 32 << 20 }, { startLine: random.size(20_000_000) }]),
        },
        { signal },
      ),
    );
  },
  async (round) => {
    const { runtime, answered } = round;
    await make(round, 'agents', '.workcell/microagents');
    await answered('microagents.load', deadlineMs, (signal) =>
      runtime.microagents.load({ user: false, organisation: false, signal }),
    );
  },
  async (round) => {
    const { runtime, random, answered } = round;
    await make(round, 'git', 'git');
    const before = await runtime.run('echo $PATH');
    await runtime.env.set({ PATH: `${runtime.workspace}:${before.output.trim()}` });
    const git = runtime.git.at('repo');
    const [name, look] = random.pick<[string, (signal: AbortSignal) => Promise<unknown>]>([
      ['git.status', (signal) => git.status({ signal })],
      ['git.changes', (signal) => git.changes({ base: 'HEAD', signal })],
      ['git.log', (signal) => git.log({ signal })],
      ['git.branches', (signal) => git.branches({ signal })],
    ]);
    await answered(name, deadlineMs, look);
    await runtime.env.set({ PATH: before.output.trim() });
  },
  async (round) => {
    const { runtime, insideArgv, random, seed, answered } = round;
    const started = await answered('processes.start', deadlineMs, () =>
      runtime.processes.start(insideArgv('texts', seed, 'print')),
    );
    if (started === undefined) return;
    const maxOutputBytes = random.pick([1000, 1 << 20, 16 << 20]);
    await answered('wait_process', deadlineMs, (signal) =>
      runtime.execute({ action: 'wait_process', id: started.id, maxOutputBytes }, { signal }),
    );
    const after = await answered('run', deadlineMs, () =>
      runtime.run('echo after', { timeoutMs: deadlineMs }),
    );
    if (after !== undefined)
      round.claim(after.output.trim() === 'after', 'a command after it has another output');
  },
];

async function make({ runtime, inside, seed, answered }: Round, what: string, path: string): Promise<void> {
  const made = await answered(`making ${what}`, 20_000, () =>
    runtime.run(inside('texts', seed, what, path), { timeoutMs: 20_000 }),
  );
  if (made?.exitCode !== 0) throw new Error(`The generator failed: ${made?.output}`);
}
