/** Secrets that a command prints, or does not. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readSecret } from '../../src/config/secret-source.js';

/** A command that does not want to end, with a child that does not either, and where it says who they are. */
function stubborn() {
  const directory = mkdtempSync(join(tmpdir(), 'secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'pids');
  const script = `trap '' TERM; sleep 4300 & echo $$ $! > ${file}.new; mv ${file}.new ${file}; wait; wait; echo x`;
  const started = () => existsSync(file);
  const pids = () => (started() ? readFileSync(file, 'utf8').trim().split(' ').map(Number) : []);
  return { command: ['sh', '-c', script], pids, started };
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));

test('a command that takes too long ends with all that it started', async () => {
  const { command, pids } = stubborn();
  await expect(readSecret('secrets.A', { command }, { limitMs: 500 })).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('did not end within 0.5 seconds'),
  });
  await expect.poll(() => pids().filter(isAlive)).toEqual([]);
});

test('a command ends when the start is cancelled', async () => {
  const { command, pids, started } = stubborn();
  const stop = new AbortController();
  const reading = readSecret('secrets.A', { command }, { signal: stop.signal });
  const refused = expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  await expect.poll(started).toBe(true);
  stop.abort();
  await refused;
  await expect.poll(() => pids().filter(isAlive)).toEqual([]);
  await expect(readSecret('secrets.A', { command }, { signal: stop.signal })).rejects.toMatchObject({
    code: 'cancelled',
  });
});

test('a command finds no programs of the project', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('PATH', `${process.cwd()}/node_modules/.bin:.:/usr/bin:/bin`);
  expect(await readSecret('secrets.A', { command: ['printenv', 'PATH'] })).toBe('/usr/bin:/bin');
});

test('what it prints is the secret, up to a size', async () => {
  expect(await readSecret('secrets.A', { command: ['printf', 'two\\nlines\\n'] })).toBe('two\nlines');
  const endless = readSecret('secrets.A', { command: ['yes'] });
  await expect(endless).rejects.toThrow('which printed more than 65536 bytes');
});
