import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readDirectoryBase } from '../../../src/backends/images/directory-base.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-directory-base-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.each(['[Ss]ecrets', 'se\\crets', '![ab]'])(
  'an ignore rule that is not read as the engine reads it is refused: %s',
  async (rule) => {
    writeFileSync(join(directory, 'Dockerfile'), 'FROM scratch\n');
    writeFileSync(join(directory, '.dockerignore'), `node_modules\n${rule}\n`);
    await expect(readDirectoryBase(directory)).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining(JSON.stringify(rule)),
    });
  },
);
