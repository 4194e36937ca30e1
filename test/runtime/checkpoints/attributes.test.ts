/** Extended attributes that a cell sets: those that mean something to an overlay lead nowhere. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';

const attack = `
import os
os.makedirs('opaque'); open('opaque/inner', 'w').write('inner')
os.makedirs('moved'); open('hidden', 'w').write('hidden'); open('empty', 'w').close()
set = []
for path, name, value in [
    ('opaque', 'user.overlay.opaque', b'y'), ('moved', 'user.overlay.redirect', b'/../../../../etc'),
    ('empty', 'user.overlay.whiteout', b''), ('hidden', 'user.overlay.metacopy', b''),
    ('hidden', 'user.overlay.redirect', b'/etc/passwd'), ('hidden', 'user.overlay.origin', b'\\x00' * 64),
    ('.', 'user.overlay.opaque', b'x'), ('hidden', 'user.large', b'x' * 2000),
]:
    try:
        os.setxattr(path, name, value); set.append(name)
    except OSError:
        pass
print(len(set))
`;

const look = 'ls -1 . opaque moved; cat hidden opaque/inner';
const seen = '.:\nempty\nhidden\nmoved\nopaque\n\nmoved:\n\nopaque:\ninner\nhiddeninner';

it.each(['overlay', 'copy'] as const)('hides, shows and redirects nothing in mode %s', async (mode) => {
  const from = mkdtempSync(join(tmpdir(), 'workcell-attributes-'));
  const shown = async (runtime: Runtime) => (await runtime.run(look)).output;
  try {
    await using runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: { from, mode },
      plugins: [],
    });
    await runtime.write('/tmp/attack.py', attack);
    const { output } = await runtime.run('python3 /tmp/attack.py');
    // Without any that the file system took, this would show nothing.
    expect(Number(output)).toBeGreaterThan(0);
    expect(await shown(runtime)).toBe(seen);
    const before = await runtime.checkpoint();
    await using fork = (await runtime.fork())[0] as Runtime;
    expect(await shown(fork)).toBe(seen);
    await using second = (await fork.fork())[0] as Runtime;
    expect(await shown(second)).toBe(seen);
    await runtime.run('rm -r opaque hidden');
    await runtime.rewind(before);
    expect(await shown(runtime)).toBe(seen);
    expect(await runtime.apply(from)).toMatchObject({ applied: true, conflicts: [] });
    await using again = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: { from, mode: 'overlay' },
      plugins: [],
    });
    expect(await shown(again)).toBe(seen);
  } finally {
    rmSync(from, { recursive: true, force: true });
  }
});
