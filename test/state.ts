/** Runs keep their events by default in a file of the user; the tests' own go to one that they remove afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-test-state-'));
  process.env.XDG_STATE_HOME = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
