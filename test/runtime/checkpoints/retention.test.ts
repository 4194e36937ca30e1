import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime } from '../../../src/index.js';

it('keeps no more layers, mounts and files than its checkpoints need, after 1,000 of them', {
  timeout: 180_000,
}, async () => {
  const before = { layers: layers(), mounts: mounts() };
  const runtime = await createRuntime({
    config: false,
    backend: 'sandbox',
    workspace: { mode: 'empty', keep: 10 },
    plugins: [],
    tools: [],
  });
  try {
    for (let round = 0; round < 1000; round++) {
      if (round % 10 === 0) await runtime.write(`file-${round % 100}`, String(round));
      await runtime.checkpoint();
    }
    expect(runtime.checkpoints().length).toBe(10);
    const [first] = runtime.checkpoints();
    await runtime.rewind(first?.id ?? '');
    // Those that are removed now, each by itself, and the present.
    await expect
      .poll(() => layers().length - before.layers.length, { timeout: 30_000 })
      .toBeLessThanOrEqual(11);
    expect(mounts()).toEqual(before.mounts);
  } finally {
    await runtime.close();
  }
  expect(layers()).toEqual(before.layers);
});

/** The layers of this process. */
function layers(): string[] {
  const own = join(tmpdir(), `workcell-${process.geteuid?.()}`);
  if (!existsSync(own)) return [];
  return readdirSync(own)
    .filter((name) => name.includes(`-${process.pid}-`))
    .flatMap((name) => readdirSync(join(own, name)).map((inner) => join(own, name, inner)))
    .filter((path) => path.includes('/layers-'))
    .flatMap((path) =>
      readdirSync(path)
        .filter((name) => name.startsWith('layer-'))
        .map((name) => join(path, name)),
    );
}

/** Of the mount namespace of this process. */
function mounts(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes('workcell-'));
}
