/**
 * Runs keep their events by default in a file of the user; the tests' own go to one that they remove afterwards. Cells have
 * the user's name for commits; in tests nobody has one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-test-state-'));
  process.env.XDG_STATE_HOME = directory;
  process.env.GIT_CONFIG_GLOBAL = '/dev/null';
  return () => rmSync(directory, { recursive: true, force: true });
}
