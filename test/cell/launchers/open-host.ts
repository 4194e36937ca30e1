/** A launcher of this machine on a workspace of its own, both gone with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHostLauncher } from '../../../src/cell/launchers/host-launcher.js';
import type { Launcher } from '../../../src/cell/launchers/launcher.js';

export function openHost(): { launcher: Launcher; workspace: string; env: Record<string, string> } {
  const workspace = mkdtempSync(join(tmpdir(), 'workcell-test-'));
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  const launcher = createHostLauncher({ workspace, environment: env });
  onTestFinished(async () => {
    await launcher.close();
    rmSync(workspace, { recursive: true, force: true });
  });
  return { launcher, workspace, env };
}
