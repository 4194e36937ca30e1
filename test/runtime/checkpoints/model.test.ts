import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';

const root = mkdtempSync(join(tmpdir(), 'checkpoint-model-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const program = new URL('steps.py', import.meta.url).pathname;
const names = ['a', 'b', 'c', 'd e', 'é', 'f\n', 'g~', 'h~'];
const kinds = [
  'write',
  'write',
  'append',
  'mkdir',
  'mkdir',
  'remove',
  'rename',
  'rename',
  'chmod',
  'symlink',
  'link',
];
/** 5,000 steps in all. */
const modes = [
  { mode: 'overlay', rounds: 40 },
  { mode: 'copy', rounds: 20 },
] as const;
const stepsPerRound = 84;

/** Small and repeatable: a failure names its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return (mixed >>> 8) % below;
  };
}

let count = 0;

/** The workspace of the model is a directory, and its checkpoints are copies of it. */
class Model {
  path: string;

  constructor(base: string) {
    this.path = this.#copy(base);
  }

  checkpoint(): string {
    return this.#copy(this.path);
  }

  rewind(to: string): void {
    rmSync(this.path, { recursive: true });
    this.path = this.#copy(to);
  }

  #copy(from: string): string {
    const to = join(root, `model-${count++}`);
    execFileSync('cp', ['-a', from, to]);
    return to;
  }
}

async function look(runtime: Runtime, steps: readonly unknown[]): Promise<string> {
  await runtime.write('/tmp/steps.json', JSON.stringify(steps));
  const { output } = await runtime.run('python3 /tmp/steps.py /tmp/steps.json > /tmp/seen', {
    cwd: '/workspace',
  });
  expect(output).toBe('');
  return (await runtime.read('/tmp/seen')).content;
}

it.each(modes)(
  'does in mode $mode what a model of copied directories does',
  { timeout: 180_000 },
  async ({ mode, rounds }) => {
    const seed = Number(process.env.WORKCELL_SEED ?? Date.now() % 1_000_000);
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
    const path = () => Array.from({ length: 1 + random(3) }, () => pick(names)).join('/');
    const base = join(root, `base-${mode}`);
    mkdirSync(join(base, 'a/b'), { recursive: true });
    for (const name of ['a/b/c', 'a/c', 'b', 'c']) writeFileSync(join(base, name), name);
    const model = new Model(base);
    const program64 = readFileSync(program).toString('base64');
    let runtime: Runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: { from: base, mode, keep: 8 },
      plugins: [],
      tools: [],
    });
    try {
      await runtime.run(`echo ${program64} | base64 -d > /tmp/steps.py`);
      const kept = new Map<string, string>();
      const none = join(root, 'none.json');
      writeFileSync(none, '[]');
      for (let round = 0; round < rounds; round++) {
        const steps = Array.from({ length: stepsPerRound }, () => [
          pick(kinds),
          path(),
          path(),
          'x'.repeat(random(9)),
        ]);
        const file = join(root, 'steps.json');
        writeFileSync(file, JSON.stringify(steps));
        const expected = execFileSync('python3', [program, file], { cwd: model.path, encoding: 'utf8' });
        expect(await look(runtime, steps), `seed ${seed}, round ${round}`).toBe(expected);
        const choice = pick(['checkpoint', 'rewind', 'fork', 'apply', 'nothing']);
        if (choice === 'checkpoint') {
          const { id } = await runtime.checkpoint();
          kept.set(id, model.checkpoint());
          expect(await runtime.diff(id), `seed ${seed}, round ${round}`).toEqual([]);
        }
        // What it writes below the layers must not show through any of them.
        if (choice === 'apply') await runtime.apply(base, { onConflict: 'overwrite' });
        const ids = runtime
          .checkpoints()
          .map(({ id }) => id)
          .filter((id) => kept.has(id));
        if ((choice !== 'rewind' && choice !== 'fork') || ids.length === 0) continue;
        const id = pick(ids);
        if (choice === 'rewind') await runtime.rewind(id);
        else {
          const [fork] = await runtime.fork({ from: id });
          await runtime.close();
          runtime = fork as Runtime;
          await runtime.run(`echo ${program64} | base64 -d > /tmp/steps.py`);
        }
        model.rewind(kept.get(id) as string);
        const was = execFileSync('python3', [program, none], { cwd: model.path, encoding: 'utf8' });
        expect(await look(runtime, []), `seed ${seed}, ${choice} after round ${round}`).toBe(was);
      }
    } finally {
      await runtime.close();
    }
  },
);
