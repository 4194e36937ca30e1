/**
 * `npm run soak [-- --cycles 5000 --kills 200 --gibibytes 10 --replicas 300]`: sandboxes come and go and must leave nothing
 * behind; servers print without end to readers that do not keep up, and must not grow; replicas of a service are killed for so
 * many seconds, and must neither lose nor double anything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { soakCycles } from './soak/cycles.js';
import { soakEndless } from './soak/endless.js';
import { soakKills } from './soak/kills.js';
import { soakReplicas } from './soak/replicas.js';
import { leftovers, print, type Report } from './soak/report.js';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '5000' },
    kills: { type: 'string', default: '200' },
    gibibytes: { type: 'string', default: '10' },
    replicas: { type: 'string', default: '300' },
    clients: { type: 'string', default: '50' },
  },
});
const [cycles, kills, gibibytes] = [Number(values.cycles), Number(values.kills), Number(values.gibibytes)];
const [seconds, clients] = [Number(values.replicas), Number(values.clients)];
if (!(cycles >= 0 && kills >= 0 && gibibytes >= 0 && seconds >= 0 && clients >= 1)) {
  console.error(
    'The options take numbers, such as: npm run soak -- --cycles 100 --kills 10 --gibibytes 1 --replicas 30 --clients 10',
  );
  process.exit(64);
}

const directory = mkdtempSync(join(tmpdir(), 'soak-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
process.env.TMPDIR = directory;
// Keep events as by default, but not among those of this user.
const state = mkdtempSync(`${directory}-state-`);
process.once('exit', () => rmSync(state, { recursive: true, force: true }));
process.env.XDG_STATE_HOME = state;

const reports: Report[] = [];
if (cycles > 0) reports.push(await soakCycles({ directory, cycles }));
if (kills > 0) reports.push(await soakKills({ directory, kills }));
if (gibibytes > 0) reports.push(await soakEndless({ bytes: gibibytes * 1024 ** 3 }));
if (seconds > 0) reports.push(await soakReplicas({ directory, seconds, clients }));
for (const report of reports) print(report);
const left = reports.flatMap(leftovers);
console.log(
  left.length === 0
    ? '\nNothing was left behind.'
    : `\nLeft behind: ${left.map(({ name }) => name).join(', ')}.`,
);
process.exitCode = left.length === 0 ? 0 : 1;
