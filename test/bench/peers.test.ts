/** Nobody compares with peers in a test run, so the parts that need no peer are held here. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { measurePeers } from '../../bench/peers/measure-peers.js';
import { allPeers, floorName, type PeerEntry } from '../../bench/peers/peers.js';
import { peersSection, type Report } from '../../bench/peers/report.js';
import { works } from '../../bench/peers/works.js';
import { replaceSection } from '../../bench/section.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-test-peers-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const broken: PeerEntry = {
  name: 'broken',
  version: '1',
  isolates: 'nothing',
  used: 'not at all',
  argv: [process.execPath, '-e', 'console.error("the reason why"); process.exit(3)'],
};
const untruthful: PeerEntry = {
  ...broken,
  name: 'untruthful',
  argv: [process.execPath, '--import', import.meta.resolve('tsx'), join(directory, 'untruthful.mts')],
};
writeFileSync(
  join(directory, 'untruthful.mts'),
  `import { serve } from ${JSON.stringify(new URL('../../bench/peers/adapters/adapter.ts', import.meta.url).href)};
void serve({ open: async () => ({
  run: async () => 'nonsense', write: async () => {}, read: async () => 'nonsense', close: async () => {},
}) });`,
);

const machine = { processors: '1 × p', memoryGib: 1, kernel: 'Linux', node: 'v20', load: '0 0 0' };
const sampled = (peer: string, samplesMs: number[], failures: string[] = []) => ({
  peer,
  part: 'command',
  samplesMs,
  failures,
});

it('does the work through a real adapter, and tells of peers that fail or answer something else', async () => {
  const peers = allPeers(directory, '', '0').filter(({ name }) => name === 'Workcell `cli`');
  const { results, weights } = await measurePeers({
    peers: [...peers, broken, untruthful],
    rounds: 1,
    sliceMs: 1,
    env: { XDG_STATE_HOME: directory },
    directory,
    enginePid: 0,
    mostMs: 60_000,
    tell: () => {},
  });
  const of = (peer: string) => results.filter((result) => result.peer === peer);
  const own = of('Workcell `cli`');
  expect(own.map(({ part }) => part)).toEqual(works.flatMap(({ parts }) => parts.map(({ name }) => name)));
  for (const { samplesMs, failures } of own) {
    expect(failures).toEqual([]);
    expect(samplesMs.every((sample) => sample > 0)).toBe(true);
  }
  expect(weights.find(({ peer }) => peer === 'Workcell `cli`')?.bytesEach).toBeGreaterThan(0);
  for (const { samplesMs, failures } of of('broken')) {
    expect(samplesMs).toEqual([]);
    expect(failures[0]).toContain('the reason why');
  }
  const lied = of('untruthful').find(({ part }) => part === 'command');
  expect(lied).toMatchObject({ samplesMs: [], failures: [expect.stringContaining('"nonsense"')] });
});

it('says where a peer is ahead, with every failure and without trimming', () => {
  const report: Report = {
    at: '2026-01-02T00:00:00Z',
    machine,
    rounds: 1,
    peers: [floorName, 'Workcell `sandbox`', 'quick', 'slow', 'many'].map((name) => ({
      name,
      version: '',
      isolates: '',
      used: '',
    })),
    results: [
      sampled(floorName, [1]),
      sampled('Workcell `sandbox`', [2]),
      sampled('quick', [1, 1, 1, 900]),
      sampled('many', [...Array.from({ length: 18 }, () => 3), 19, 20]),
      sampled('slow', [4], ['It | broke at /some/place/of/mine']),
    ],
    cut: false,
    weights: [
      { peer: 'Workcell `sandbox`', bytesEach: 2 ** 21 },
      { peer: 'quick', bytesEach: 2 ** 20 },
    ],
  };
  const section = peersSection(report);
  expect(section).toContain('- Command: quick takes 1.0 ms, and the sandbox 2.0 ms.');
  expect(section).toContain('- Idle memory: quick takes 1.0 MiB, and the sandbox 2.0 MiB.');
  expect(section).not.toContain('- Command: slow');
  expect(section).toContain('| quick | 1.0 | – | – | 900 | 1.0× | 4 |');
  expect(section).toContain('| many | 3.0 | 19.0 | 20.0 | 20.0 | 3.0× | 20 |');
  expect(section).toContain('| slow | command | 1 | It broke at … |');
});

it('installs a peer again when its requirements are others', () => {
  const fakes = join(directory, 'fakes');
  mkdirSync(fakes);
  const log = join(directory, 'installed');
  const fake = (path: string, script: string) =>
    writeFileSync(path, `#!/bin/bash\n${script}\n`, { mode: 0o700 });
  fake(join(fakes, 'npm'), `echo npm >>${log}`);
  // As a Python, it makes environments with this pip.
  fake(
    join(fakes, 'python3.12'),
    `[ "$2" = venv ] || exit 0; mkdir -p "$3/bin"; printf '#!/bin/bash\\necho %s >>${log}' "\${3##*/}" >"$3/bin/pip"; chmod +x "$3/bin/pip"`,
  );
  const env = { ...process.env, PATH: `${fakes}:${process.env.PATH}`, XDG_CACHE_HOME: directory };
  const script = fileURLToPath(new URL('../../bench/peers/install', import.meta.url));
  const install = () => {
    rmSync(log, { force: true });
    const folder = execFileSync(script, { env, encoding: 'utf8' }).trim();
    return { folder, done: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [] };
  };
  const { folder, done } = install();
  expect(done).toEqual(['npm', 'swe-rex', 'camel', 'openhands']);
  expect(install().done).toEqual([]);
  for (const name of ['npm', 'camel']) writeFileSync(join(folder, name, 'installed'), 'an earlier version\n');
  expect(install().done).toEqual(['npm', 'camel']);
});

it('replaces the figures of a page and leaves its words', () => {
  const page = 'words\n<!-- Figures `a`, written by measurement -->\nold\n<!-- End of the figures -->\nmore';
  const replaced = replaceSection(page, 'a', 'new');
  expect(replaced).toBe(
    'words\n<!-- Figures `a`, written by measurement -->\n\nnew\n\n<!-- End of the figures -->\nmore',
  );
  expect(replaceSection(replaced, 'a', 'new')).toBe(replaced);
  expect(() => replaceSection(page, 'b', 'new')).toThrow('no place for the figures "b"');
});
