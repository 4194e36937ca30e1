import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';
import { workcell } from '../../cli/workcell.js';

it('leads from the record of a fork to that of its origin and back, on the command line', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lineage-'));
  const events = { store: `sqlite:${directory}/events.db` };
  const recorded = async ({ id }: Runtime) => {
    const words = ['events', id, '--kind', 'checkpoint', '--store', events.store];
    return (await workcell(words)).stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/.*checkpoint +/, ''));
  };
  try {
    await using runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: { mode: 'empty' },
      plugins: [],
      tools: [],
      events,
    });
    const first = await runtime.checkpoint('first');
    const second = await runtime.checkpoint();
    const [one] = await runtime.fork({ from: first });
    await using fork = one as Runtime;
    const [two] = await fork.fork();
    await using later = two as Runtime;
    const [own] = fork.checkpoints().slice(-1);
    await runtime.merge(later);
    await later.close();

    expect(await recorded(runtime)).toEqual([
      `created id=${first.id} label=first files=0 bytes=0`,
      `created id=${second.id} parent=${first.id} files=0 bytes=0`,
      `forked id=${first.id} runtime=${fork.id}`,
      expect.stringMatching(`^created id=.* label=before merging ${later.id} parent=${second.id}`),
      expect.stringMatching(`^merged id=.* runtime=${later.id} files=0 conflicts=0`),
    ]);
    expect(await recorded(fork)).toEqual([
      `began id=${first.id} runtime=${runtime.id}`,
      `created id=${own?.id} label=fork parent=${first.id} files=0 bytes=0`,
      `forked id=${own?.id} runtime=${later.id}`,
    ]);
    expect((await recorded(later))[0]).toBe(`began id=${own?.id} runtime=${fork.id}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
