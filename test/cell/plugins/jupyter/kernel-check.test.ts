import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kernelCheck } from '../../../../src/cell/plugins/jupyter/kernel-specs.js';

test('an installed kernel is found without a start of Python, which every cell would pay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernels-'));
  try {
    mkdirSync(join(folder, 'share/kernels/some'), { recursive: true });
    writeFileSync(join(folder, 'share/kernels/some/kernel.json'), '{}');
    writeFileSync(join(folder, 'python3'), `#!/bin/sh\necho started >${folder}/started\nexit 1\n`, {
      mode: 0o755,
    });
    const [file = '', ...args] = kernelCheck;
    const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, JUPYTER_PATH: join(folder, 'share') };
    expect(spawnSync(file, args, { env }).status).toBe(0);
    expect(existsSync(join(folder, 'started'))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
