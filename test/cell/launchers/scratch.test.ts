import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScratch, removeTree } from '../../../src/cell/launchers/scratch.js';

test('a tree nested deeper than Node can follow is removed', () => {
  const path = makeScratch('test');
  const nest = 'import os\nfor _ in range(3000):\n  os.mkdir("d")\n  os.chdir("d")\n';
  execFileSync('python3', ['-c', nest], { cwd: path });
  removeTree(path);
  expect(existsSync(path)).toBe(false);
});

test('a tree whose permissions keep everybody out is removed', () => {
  const path = makeScratch('test');
  mkdirSync(join(path, 'closed', 'inner'), { recursive: true });
  chmodSync(join(path, 'closed'), 0);
  removeTree(path);
  expect(existsSync(path)).toBe(false);
});
