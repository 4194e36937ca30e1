/**
 * `npm run soak [-- --cycles 5000 --kills 200 --gibibytes 10]`: sandboxes come and go and must leave nothing behind;
 * servers print without end to readers that do not keep up, and must not grow.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { soakCycles } from './soak/cycles.js';
import { soakEndless } from './soak/endless.js';
import { soakKills } from './soak/kills.js';
import { leftovers, print, type Report } from './soak/report.js';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '5000' },
    kills: { type: 'string', default: '200' },
    gibibytes: { type: 'string', default: '10' },
  },
});
const [cycles, kills, gibibytes] = [Number(values.cycles), Number(values.kills), Number(values.gibibytes)];
if (!(cycles >= 0 && kills >= 0 && gibibytes >= 0)) {
  console.error('The options take numbers, such as: npm run soak -- --cycles 100 --kills 10 --gibibytes 1');
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
for (const report of reports) print(report);
const left = reports.flatMap(leftovers);
console.log(
  left.length === 0
    ? '\nNothing was left behind.'
    : `\nLeft behind: ${left.map(({ name }) => name).join(', ')}.`,
);
process.exitCode = left.length === 0 ? 0 : 1;
