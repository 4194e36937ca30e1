/** The profile that containers get says what the policy says, on paper and in the kernel. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { seccompProfile } from '../../src/backends/docker/seccomp/profile.js';
import { errnos } from '../../src/cell/launchers/seccomp/seccomp-policy.js';
import { syscalls } from '../../src/cell/launchers/seccomp/syscalls.js';
import { allowed, type Probe, refused } from '../cell/launchers/seccomp/probes.js';
import { dockerEngine, images } from '../engines/docker.js';

interface ProfileRule {
  names: string[];
  action: string;
  errnoRet?: string;
  args?: { index: string; value: string; valueTwo: string }[];
}

/** Its numbers have 64 bits, so read them as text. */
const profile = JSON.parse(seccompProfile().replaceAll(/(?<=:)\d+/g, '"$&"')) as {
  defaultErrnoRet: string;
  syscalls: ProfileRule[];
};
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
const exists = ({ call }: Probe) => syscalls[call][architecture] !== undefined;

describe('on paper', () => {
  const matching = ({ call, arguments: given }: Probe) =>
    profile.syscalls.filter(
      ({ names, args = [] }) =>
        names.includes(call) &&
        args.every(
          ({ index, value, valueTwo }) => (bits(given[Number(index)]) & BigInt(value)) === BigInt(valueTwo),
        ),
    );

  test.each([...refused, ...allowed])('at most one rule is about $title', (probe) => {
    expect(matching(probe).length).toBeLessThanOrEqual(1);
  });

  test.each(refused)('$title is refused', (probe) => {
    const [rule] = matching(probe);
    expect(rule?.action ?? 'SCMP_ACT_ERRNO').toBe('SCMP_ACT_ERRNO');
    // What only attackers pass gets the usual answer.
    expect([errnos[probe.answer], errnos.EPERM]).toContain(Number(rule?.errnoRet ?? profile.defaultErrnoRet));
  });

  test.each(allowed)('$title is allowed', (probe) => {
    expect(matching(probe)).toEqual([expect.objectContaining({ action: 'SCMP_ACT_ALLOW' })]);
  });

  test('no call is both allowed and judged', () => {
    const judged = new Set(Object.keys(syscalls));
    const [first] = profile.syscalls;
    expect(first?.names.filter((name) => judged.has(name))).toEqual([]);
    expect(new Set(first?.names).size).toBe(first?.names.length);
  });
});

describe('in the kernel', () => {
  const probes = { refused: refused.filter(exists), allowed: allowed.filter(exists) };
  const filtered = new Map<Probe, string>();
  const unfiltered = new Map<Probe, string>();

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'seccomp-profile-'));
    const file = join(directory, 'profile.json');
    writeFileSync(file, seccompProfile());
    const all = [...probes.refused, ...probes.allowed];
    try {
      const [under, without] = [await outcomes(all, file), await outcomes(all, 'unconfined')];
      all.forEach((probe, index) => {
        filtered.set(probe, under[index] ?? 'missing');
        unfiltered.set(probe, without[index] ?? 'missing');
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test.each(probes.refused)('refuses $title', (probe) => {
    // A call that the engine's library does not know is not there.
    expect([probe.answer, 'EPERM', 'ENOSYS']).toContain(filtered.get(probe));
  });

  test.each(probes.allowed)('allows $title', (probe) => {
    expect(filtered.get(probe)).toBe(unfiltered.get(probe));
  });
});

/** As much privilege as there is, so that what refuses is the filter. */
async function outcomes(probes: readonly Probe[], filter: string): Promise<string[]> {
  const { host } = await dockerEngine();
  const options = ['--cap-add=ALL', '--cap-drop=SYS_RESOURCE', '--security-opt=no-new-privileges'];
  const script = readFileSync(new URL('../cell/launchers/seccomp/probe.py', import.meta.url), 'utf8');
  const running = promisify(execFile)('docker', [
    ...['--host', host, 'run', '--rm', '--interactive', ...options, `--security-opt=seccomp=${filter}`],
    ...[images.tools, 'python3', '-c', script],
  ]);
  const calls = probes.map(({ call, arguments: given }) => ({
    number: syscalls[call][architecture],
    arguments: given,
  }));
  running.child.stdin?.end(JSON.stringify(calls));
  return JSON.parse((await running).stdout);
}

/** As a register has it. A string is a pointer to it. */
function bits(argument: number | string | undefined): bigint {
  return BigInt.asUintN(64, BigInt(typeof argument === 'number' ? argument : 0x7fff_1234_5678));
}
