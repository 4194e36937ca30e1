/**
 * `npm run bench:peers [peer…] [--rounds N] [--slice SECONDS] [--minutes N]`: installs the peers, has them do the same work in turn, keeps the raw
 * samples in the user's cache folder, and writes `docs/benchmarks.md`. With named peers it only prints.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { images, startDockerEngine } from '../../scripts/engines/docker.js';
import { writeSection } from '../section.js';
import { measurePeers } from './measure-peers.js';
import { allPeers, floorName } from './peers.js';
import { peersSection } from './report.js';

const {
  values: { rounds, slice, minutes },
  positionals: wanted,
} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    slice: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '60' },
  },
});

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = execFileSync(here('install'), {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
}).trim();
const { version } = JSON.parse(readFileSync(here('../../package.json'), 'utf8')) as { version: string };
const state = mkdtempSync(join(tmpdir(), 'workcell-bench-state-'));
const engine = await startDockerEngine();
try {
  const image = images.tools;
  const known = allPeers(folder, image, version);
  const peers = known.filter(
    ({ name }) => wanted.length === 0 || name === floorName || wanted.some((part) => name.includes(part)),
  );
  const measured = await measurePeers({
    peers,
    rounds: Number(rounds),
    sliceMs: Number(slice) * 1000,
    env: { WORKCELL_BENCH_PEERS: folder, DOCKER_HOST: engine.host, XDG_STATE_HOME: state },
    directory: state,
    mostMs: Number(minutes) * 60_000,
    enginePid: engine.networkPid,
    tell: (progress) => console.error(progress),
  });
  const report = {
    at: new Date().toISOString(),
    machine: {
      processors: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
      memoryGib: Math.round(totalmem() / 1024 ** 3),
      kernel: `${type()} ${release().split('-')[0]}`,
      node: process.version,
      load: readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' '),
    },
    rounds: Number(rounds),
    peers: peers.map(({ name, version: of, isolates, used }) => ({ name, version: of, isolates, used })),
    ...measured,
  };
  const raw = join(folder, 'samples', `${report.at.replaceAll(':', '-')}.json`);
  mkdirSync(join(folder, 'samples'), { recursive: true });
  writeFileSync(raw, `${JSON.stringify(report)}\n`);
  console.error(`All samples: ${raw}`);
  const section = peersSection(report);
  if (wanted.length === 0) writeSection('peers', section);
  else console.log(section);
} finally {
  await engine.stop();
  rmSync(state, { recursive: true, force: true });
}
