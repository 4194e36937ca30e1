/** Kills owners of sandboxes at random moments; what they could not clear away goes with the next start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { count, type Scope } from './count.js';
import { type Report, rowsOf, settle, tellProgress } from './report.js';

/** Long enough for an owner to have made, used and ended some. */
const longestLifeMs = 300;

/** `directory` becomes the temporary directory of every owner. */
export async function soakKills(options: { directory: string; kills: number }): Promise<Report> {
  const { directory, kills } = options;
  const owners = new Set<string>();
  const scope: Scope = { directory, owners };
  const before = count(scope);
  let [processes, controlGroups, files] = [0, 0, 0];
  for (let index = 0; index < kills; index++) {
    tellProgress(index, kills, 'owners killed');
    const owner = startOwner(directory);
    owners.add(await firstLine(owner));
    await setTimeout(Math.random() * longestLifeMs);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const left = count(scope);
    processes += left.processes - before.processes;
    controlGroups += left.controlGroups - before.controlGroups;
    files += left.files - before.files;
  }
  // The sweep removes a group when it is empty, so the last start waits for the end of what the owners left running.
  await settle(() => ({ title: '', rows: rowsOf(before, { ...count(scope), controlGroups: 0, files: 0 }) }));
  const last = startOwner(directory, 'once');
  owners.add(await firstLine(last));
  const [code] = await once(last, 'exit');
  if (code !== 0) throw new Error(`The start after the kills failed with exit code ${code}.`);
  const found = `${processes} processes, ${controlGroups} control groups and ${files} files were there right after the kills`;
  return settle(() => ({
    title: `${kills} owners killed, then one more start (${found})`,
    rows: rowsOf(before, count(scope)),
  }));
}

function startOwner(directory: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL('owner.ts', import.meta.url));
  return spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as Readable })) return line;
  throw new Error('An owner ended before it said anything.');
}
