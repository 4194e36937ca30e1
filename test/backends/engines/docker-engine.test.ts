/** Whose certificates say which Docker Engine we believe, and who we are to it. */
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEngine } from '../../../src/backends/engines/docker-engine.js';
import { stranger } from '../../base/as-user.js';

let folder: string;
const before = process.env.DOCKER_CERT_PATH;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'docker-certificates-'));
  process.env.DOCKER_CERT_PATH = folder;
});

afterEach(() => {
  if (before === undefined) delete process.env.DOCKER_CERT_PATH;
  else process.env.DOCKER_CERT_PATH = before;
  rmSync(folder, { recursive: true, force: true });
});

const untrusted = { code: 'config-untrusted' };

test.each(['ca', 'cert', 'key'])(
  'a %s.pem that others can write is refused, until they cannot',
  async (name) => {
    const file = join(folder, `${name}.pem`);
    const host = `https://127.0.0.1:1/${name}`;
    writeFileSync(file, 'PEM');
    chmodSync(file, 0o666);
    await expect(openEngine(host)).rejects.toMatchObject({ ...untrusted, details: { file } });
    chmodSync(file, 0o644);
    await expect(openEngine(host)).resolves.toMatchObject({ host });
  },
);

test('so is a directory that others can write', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'PEM');
  chmodSync(folder, 0o777);
  await expect(openEngine('https://127.0.0.1:1/directory')).rejects.toMatchObject(untrusted);
});

test('so is one that belongs to another user', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'PEM');
  chownSync(folder, stranger, stranger);
  await expect(openEngine('https://127.0.0.1:1/foreign')).rejects.toMatchObject(untrusted);
});

test('a directory without certificates is fine', async () => {
  await expect(openEngine('https://127.0.0.1:1/none')).resolves.toBeDefined();
});
