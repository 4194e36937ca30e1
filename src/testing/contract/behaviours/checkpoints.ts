import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateRuntimeOptions, Runtime } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, begin, type Given, refusal, sh } from '../given.js';

/** Everything below the workspace in one text: names, kinds, modes, targets of links, and content. */
const look = `find . -mindepth 1 -printf '%P|%y|%m|%l\\n' | sort; find . -type f -readable -print0 | sort -z | xargs -0 cksum`;

export const checkpointBehaviours: Behaviours = {
  'checkpoints.rewind': async (given) => {
    const runtime = await startIn(given, { mode: 'empty' });
    await sh(
      runtime,
      [
        "mkdir -p keep/deep empty 'a b' Case case; echo 1 > keep/deep/leaf; echo 1 > Case/x; echo 2 > case/x",
        `echo odd > $'a b/new\\nline'; echo é > 'a b/é"'; echo dash > ./-rf; chmod 700 keep; chmod 640 keep/deep/leaf`,
        'ln -s /etc/passwd outward; ln -s .. upward; ln -s keep/deep inward; printf script > run; chmod 755 run',
        'mkdir closed; echo c > closed/c; chmod 500 closed; echo same > same',
      ].join('\n'),
    );
    const before = await sh(runtime, look);
    const first = await runtime.checkpoint('first');
    await sh(
      runtime,
      [
        'chmod 755 closed keep; echo 2 > keep/deep/leaf; echo c2 > closed/c; rm -r Case "a b" empty; mv case renamed',
        'rm outward inward run ./-rf; echo file > outward; mkdir run; echo in > run/in; ln -s other inward; echo n > new',
      ].join('\n'),
    );
    const after = await sh(runtime, look);
    const { recovery, changes } = await runtime.rewind(first);
    expect(await sh(runtime, look)).toBe(before);
    expect(changes.map(({ path }) => path)).toContain('keep/deep/leaf');
    expect(changes.map(({ path }) => path)).not.toContain('same');
    expect(await runtime.diff(first)).toEqual([]);
    await runtime.rewind(recovery);
    expect(await sh(runtime, look)).toBe(after);
    expect(runtime.checkpoints()[0]).toMatchObject({ id: first.id, label: 'first', runtimeId: runtime.id });
    await refusal(runtime.rewind('nowhere'), 'not-found');
  },

  'checkpoints.take-over': async (given) => {
    const from = mkdtempSync(join(tmpdir(), 'workcell-contract-'));
    const at = (name: string) => join(from, name);
    try {
      for (const name of ['mine', 'ours', 'gone']) writeFileSync(at(name), `${name}\n`, { mode: 0o666 });
      const runtime = await startIn(given, { from, mode: 'overlay' });
      await sh(
        runtime,
        'echo more >> ours; rm gone; echo theirs > mine; mkdir -p new/sub; echo n > new/sub/n',
      );
      expect(readFileSync(at('ours'), 'utf8')).toBe('ours\n');
      const changes = await runtime.diff();
      expect(changes.map(({ change, path }) => `${change} ${path}`)).toEqual([
        'removed gone',
        'changed mine',
        'added new',
        'added new/sub',
        'added new/sub/n',
        'changed ours',
      ]);
      expect(changes.at(-1)?.patch ?? '').toContain('+more');
      writeFileSync(at('mine'), 'edited meanwhile\n');
      expect(await runtime.apply(from)).toMatchObject({
        applied: false,
        conflicts: [{ path: 'mine', reason: 'changed' }],
      });
      expect(existsSync(at('new'))).toBe(false);
      expect((await runtime.apply(from, { onConflict: 'skip' })).applied).toBe(true);
      expect(['mine', 'ours', 'new/sub/n'].map((name) => readFileSync(at(name), 'utf8'))).toEqual([
        'edited meanwhile\n',
        'ours\nmore\n',
        'n\n',
      ]);
      expect(existsSync(at('gone'))).toBe(false);
    } finally {
      rmSync(from, { recursive: true, force: true });
    }
  },

  'checkpoints.bounded': async (given) => {
    const runtime = await startIn(given, { mode: 'empty', maxFiles: 10 });
    await sh(runtime, 'touch file-{1..20}');
    await refusal(runtime.checkpoint(), 'file-too-large');
    await sh(runtime, 'rm file-{5..20}');
    expect(await runtime.checkpoint()).toMatchObject({ files: 4 });
  },

  'checkpoints.busy': async (given) => {
    const runtime = await startIn(given, { mode: 'empty' });
    await sh(runtime, 'echo one > file');
    await begin(runtime, 'echo ready; read line; echo two > file; echo done', /ready/);
    const taken = await runtime.checkpoint().catch((error: unknown) => error);
    if (taken instanceof Error) expect(taken).toMatchObject({ code: 'session-busy' });
    else expect(taken).toMatchObject({ files: 1 });
    const { output } = await runtime.run('go', { input: true, timeoutMs: 20_000 });
    expect(output).toContain('done');
    expect(await runtime.checkpoint()).toMatchObject({ files: 1 });
  },

  'checkpoints.fork': async (given) => {
    const runtime = await startIn(given, { mode: 'empty' });
    await sh(runtime, 'mkdir d; echo common > d/common; ln -s d link; echo s > run; chmod 755 run');
    const before = await sh(runtime, look);
    const forks = await runtime.fork({ count: 2 });
    try {
      const [first, second] = forks as [Runtime, Runtime];
      for (const fork of forks) expect(await sh(fork, look)).toBe(before);
      await Promise.all([sh(first, 'echo a > mine'), sh(second, 'echo b > mine; rm d/common')]);
      expect(await sh(runtime, look)).toBe(before);
      expect(await sh(first, 'cat mine d/common')).toBe('a\ncommon\n');
      expect((await runtime.diff(first, second)).map(({ path }) => path)).toEqual(['d/common', 'mine']);
      const random = await Promise.all(
        [runtime, first, second].map((one) =>
          sh(one, 'head -c 16 /dev/urandom | od -An -tx1; echo $RANDOM$RANDOM'),
        ),
      );
      expect(new Set(random).size).toBe(3);
      expect(new Set([runtime.id, first.id, second.id]).size).toBe(3);
      expect(await lineage(first)).toMatchObject({ change: 'began', runtime: runtime.id });
    } finally {
      await Promise.all(forks.map((fork) => fork.close()));
    }
  },

  'checkpoints.merge': async (given) => {
    const runtime = await startIn(given, { mode: 'empty' });
    const text = (first: string, last: string) => `${[first, 2, 3, 4, 5, 6, last].join('\\n')}\\n`;
    await sh(runtime, `printf '${text('a', 'b')}' > lines; echo old > both`);
    const [fork] = (await runtime.fork()) as [Runtime];
    try {
      await sh(fork, `printf '${text('a', 'B')}' > lines; echo theirs > both; echo new > added`);
      await sh(runtime, `printf '${text('A', 'b')}' > lines; echo mine > both`);
      const conflicts = [{ path: 'both', reason: 'changed' }];
      expect(await runtime.merge(fork)).toMatchObject({ applied: false, conflicts });
      expect(await runtime.merge(fork, { onConflict: 'skip' })).toMatchObject({ applied: true, conflicts });
      expect(await sh(runtime, 'head -1 lines; tail -1 lines; cat both added')).toBe('A\nB\nmine\nnew\n');
    } finally {
      await fork.close();
    }
  },
};

function startIn({ create }: Given, workspace: object): Promise<Runtime> {
  return create({ workspace } as Partial<CreateRuntimeOptions>);
}

/** The first record of a checkpoint. */
async function lineage(runtime: Runtime): Promise<unknown> {
  for await (const event of runtime.events.since(0)) if (event.kind === 'checkpoint') return event.checkpoint;
  return undefined;
}
