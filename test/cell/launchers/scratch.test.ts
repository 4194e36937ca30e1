import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openOwnDirectory } from '../../../src/base/own-directory.js';
import { makeScratch, ownedPrefix, sweepAbandoned } from '../../../src/cell/launchers/scratch.js';
import { runAsStranger, startAsStranger, stranger } from '../../base/as-user.js';

const scratch = fileURLToPath(new URL('../../../src/cell/launchers/scratch.ts', import.meta.url));
const user = process.geteuid?.() ?? 0;
const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
/** The name of what a process left that had started when the machine did. */
const abandoned = `workcell-${user}-${namespace}-${process.pid}-1-left`;

let shared: string;

beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), 'workcell-sweep-'));
  chmodSync(shared, 0o1777);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(shared, { recursive: true, force: true });
});

/** Starts a program that makes a temporary directory. Returns its path once it has swept abandoned ones. */
function startOwner(): string {
  const source = `
    import { makeScratch, sweepAbandoned } from ${JSON.stringify(scratch)};
    import { temporaryDirectory } from ${JSON.stringify(join(scratch, '../../../base/own-directory.ts'))};
    const path = makeScratch('test');
    await sweepAbandoned(temporaryDirectory());
    console.log(path);`;
  const words = ['--import', 'tsx', '--input-type=module', '--eval', source];
  return execFileSync(process.execPath, words, {
    env: { ...process.env, TMPDIR: shared },
    encoding: 'utf8',
  }).trim();
}

test('a start removes what its own dead have left, and nothing of others that looks the same', () => {
  const own = openOwnDirectory(join(shared, `workcell-${user}`));
  mkdirSync(join(own.path, abandoned, 'deep'), { recursive: true });
  mkdirSync(join(own.path, `${ownedPrefix()}lives`));
  const other = abandoned.replace(`workcell-${user}-`, `workcell-${stranger}-`);
  mkdirSync(join(own.path, other));
  const source = 'import os, sys\nfor path in sys.argv[1:]: os.makedirs(path + "/deep")';
  runAsStranger(
    source,
    join(shared, abandoned),
    join(shared, abandoned.replace(/^workcell-\d+/, 'workcell')),
  );
  const path = startOwner();
  expect(path.startsWith(`${own.path}/workcell-${user}-`)).toBe(true);
  expect(readdirSync(own.path).sort()).toEqual([`${ownedPrefix()}lives`, other].sort());
  expect(existsSync(join(shared, abandoned, 'deep'))).toBe(true);
});

test('a start fails when another user holds the name of the directory', () => {
  runAsStranger('import os, sys; os.mkdir(sys.argv[1])', join(shared, `workcell-${user}`));
  vi.stubEnv('TMPDIR', shared);
  expect(() => makeScratch('test')).toThrow(/belongs to user 65534.*TMPDIR/);
});

test('a directory that is exchanged for a link while it is swept leads nowhere', async () => {
  const victim = join(shared, 'victim');
  for (let index = 0; index < 50; index++) {
    mkdirSync(join(victim, String(index)), { recursive: true });
    writeFileSync(join(victim, String(index), 'precious'), '');
  }
  const own = openOwnDirectory(join(shared, `workcell-${user}`));
  for (let round = 0; round < 3; round++) {
    const workspace = join(own.path, abandoned, 'workspace');
    mkdirSync(workspace, { recursive: true });
    chownSync(workspace, stranger, stranger);
    const attacker = await startAsStranger(exchanging, { cwd: workspace, args: [victim] });
    onTestFinished(() => void attacker.kill('SIGKILL'));
    await sweepAbandoned(own);
    const ended = once(attacker, 'exit');
    attacker.kill('SIGKILL');
    await ended;
    await sweepAbandoned(own);
    expect(readdirSync(own.path)).toEqual([]);
  }
  expect(readdirSync(victim).map((name) => readdirSync(join(victim, name)))).toEqual(
    Array.from({ length: 50 }, () => ['precious']),
  );
});

/** A program that stayed in the tree: it has its own directories and links to the victim's take each other's names. */
const exchanging = `
import ctypes, os, sys
victim = sys.argv[1]
libc = ctypes.CDLL(None)
def exchange(a, b):
    libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
for n in range(8):
    os.makedirs(f"d{n}/x")
    os.symlink(victim, f"l{n}")
print("ready", flush=True)
while True:
    for n in range(8):
        exchange(f"d{n}", f"l{n}")
        try: os.makedirs(f"d{n}/x")
        except OSError: pass
        try: os.symlink(victim, f"l{n}")
        except OSError: pass
`;
