import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime } from '../../../src/index.js';

const root = mkdtempSync(join(tmpdir(), 'hard-links-'));
writeFileSync(join(root, 'below'), 'below\n');
afterAll(() => rmSync(root, { recursive: true }));

/** The names in groups, by inode. */
const groups =
  "find . -type f -printf '%i %P\\n' | sort -k1,1n -k2 | awk '{n[$1]=n[$1]\" \"$2} END {for (i in n) print n[i]}' | sort";

it.each(['overlay', 'copy'] as const)(
  'makes names one file again, and others apart, when a workspace of mode %s goes back',
  async (mode) => {
    await using runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: { from: root, mode },
      plugins: [],
      tools: [],
    });
    const look = async () => (await runtime.run(`${groups}; cat a c e below`)).output;
    await runtime.run(
      'mkdir -p d/deep; echo one > a; ln a b; ln a d/deep/c; echo two > c; echo two > e; echo s > f; ln f g; ln below low',
    );
    const first = await runtime.checkpoint();
    const before = await look();
    expect(before).toContain(' a b d/deep/c\n');
    // Some go, some become files of their own, with the same content and another, and others become one.
    await runtime.run('rm b; cp a x; mv x a; echo other > d/deep/c; ln -f c e; ln c h; rm -r g; echo s > g');
    const after = await look();
    expect(after).toContain(' c e h\n');
    const { recovery } = await runtime.rewind(first);
    expect(await look()).toBe(before);
    await runtime.run('echo more >> a; test "$(cat b)" = "$(cat a)" && test "$(cat d/deep/c)" = "$(cat b)"');
    expect((await runtime.run('cat b; cat e c')).output).toBe('one\nmore\ntwo\ntwo\n');
    await runtime.rewind(recovery);
    expect(await look()).toBe(after);
    await runtime.rewind(first, { recovery: false });
    expect((await runtime.run('stat -c %h a f')).output).toBe('3\n2\n');
    expect((await runtime.run('ls -A')).output).not.toContain('.workcell-apply');
  },
);
