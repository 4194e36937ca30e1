/** The filter in this machine's kernel. Compares each refusal with the same call in the same place without it. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { syscalls } from '../../../../src/cell/launchers/seccomp/syscalls.js';
import { architecture, bubblewrap, obstacle } from './cell.js';
import { allowed, type Probe, refused } from './probes.js';

const privileged = process.getuid?.() === 0;
/** As much privilege as there is, so that what refuses is the filter. */
const place = [
  ...['--dev-bind', '/', '/', '--tmpfs', '/tmp', '--proc', '/proc', '--die-with-parent', '--new-session'],
  ...['--unshare-pid', '--unshare-uts', '--unshare-ipc', ...(privileged ? ['--cap-add', 'ALL'] : [])],
];
const python = (script: string, ...parameters: string[]) => {
  const text = readFileSync(new URL(script, import.meta.url), 'utf8');
  return [...place, '/usr/bin/python3', '-c', text, ...parameters];
};

interface RawProbe {
  readonly number: number;
  readonly arguments: Probe['arguments'];
  readonly gate?: 'i386';
}

async function outcomes(probes: readonly RawProbe[], filter: boolean): Promise<string[]> {
  const finished = await bubblewrap(python('probe.py'), {
    stdin: JSON.stringify(probes),
    ...(filter ? {} : { filter: false as const }),
  });
  if (finished.exitCode !== 0) throw new Error(finished.stderr);
  return JSON.parse(finished.stdout);
}

describe.skipIf(obstacle)(obstacle ?? 'in the kernel', () => {
  const here = architecture ?? 'x64';
  const exists = ({ call }: Probe) => syscalls[call][here] !== undefined;
  const raw = (probe: Probe): RawProbe => ({
    number: syscalls[probe.call][here] ?? -1,
    arguments: probe.arguments,
  });
  const probes = { refused: refused.filter(exists), allowed: allowed.filter(exists) };
  const filtered = new Map<Probe, string>();
  const unfiltered = new Map<Probe, string>();

  beforeAll(async () => {
    const all = [...probes.refused, ...probes.allowed];
    const [under, without] = await Promise.all([outcomes(all.map(raw), true), outcomes(all.map(raw), false)]);
    all.forEach((probe, index) => {
      filtered.set(probe, under[index] ?? 'missing');
      unfiltered.set(probe, without[index] ?? 'missing');
    });
  }, 60_000);

  test.each(probes.refused)('refuses $title', (probe) => {
    expect(filtered.get(probe)).toBe(probe.answer);
  });

  test('the filter, not the kernel, is what refuses', (context) => {
    if (!privileged) return context.skip('a plain user is refused most of it anyway');
    const same = probes.refused.filter((probe) => unfiltered.get(probe) === probe.answer);
    // Families and protocols that this kernel's build lacks, and calls it no longer has.
    const absent = same.filter(
      ({ call, answer }) => /^(socket|socketpair)$/.test(call) || answer === 'ENOSYS',
    );
    expect(same.filter((probe) => !absent.includes(probe)).map(({ title }) => title)).toEqual([]);
  });

  test.each(probes.allowed)('allows $title', (probe) => {
    expect(filtered.get(probe)).toBe(unfiltered.get(probe));
    expect(filtered.get(probe)).not.toBe('EPERM');
  });

  test('the x32 ABI does not exist, and the native call next to it does', async (context) => {
    if (here !== 'x64') return context.skip('x32 is an ABI of x86-64');
    const getpid = 39;
    const calls = [
      { number: 0x40000000 + getpid, arguments: [] },
      { number: getpid, arguments: [] },
    ];
    expect(await outcomes(calls, true)).toEqual(['ENOSYS', 'ok']);
  });

  test('a call through the 32-bit gate kills the process', async (context) => {
    if (here !== 'x64') return context.skip('this gate is of x86-64; the simulation covers 32-bit ARM');
    const calls = [{ number: 20, arguments: [], gate: 'i386' as const }];
    expect(await outcomes(calls, true)).toEqual(['SIGSYS']);
    expect(await outcomes(calls, false)).not.toEqual(['SIGSYS']);
  });

  test.each(['0x5412', '0x100005412', '0x7fffffff00005412'])(
    'nothing is typed by ioctl %s',
    async (request) => {
      const ioctl = `${syscalls.ioctl[here]}`;
      const under = await bubblewrap(python('terminal.py', request, ioctl));
      expect(under.stdout.trim()).toBe('EPERM nothing');
      const without = await bubblewrap(python('terminal.py', request, ioctl), { filter: false });
      // Kernels with the legacy switch off refuse it themselves, to those without privilege.
      expect(without.stdout.trim()).toMatch(privileged ? /^ok x$/ : /^(ok x|E\w+ nothing)$/);
    },
  );

  test('threads start although clone3 is refused', async () => {
    const script = 'import threading as t; x = t.Thread(target=print, args=("ran",)); x.start(); x.join()';
    const finished = await bubblewrap([...place, '/usr/bin/python3', '-c', script]);
    expect(finished).toEqual({ exitCode: 0, stdout: 'ran\n', stderr: '' });
  });

  test('a program may still confine itself further', async () => {
    const script = [
      'import ctypes, struct',
      'allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000), 8)',
      'program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)), 16)',
      // PR_SET_SECCOMP, SECCOMP_MODE_FILTER
      'assert ctypes.CDLL(None).prctl(22, 2, program, 0, 0) == 0',
      'print(next(line for line in open("/proc/self/status") if line.startswith("Seccomp_filters")).split()[1])',
    ].join('\n');
    const finished = await bubblewrap([...place, '/usr/bin/python3', '-c', script]);
    expect(finished).toEqual({ exitCode: 0, stdout: '2\n', stderr: '' });
  });

  test('the option brings tracers back', async () => {
    const probe = [{ number: syscalls.ptrace[here] ?? -1, arguments: [16, 0x7ffffff0, 0, 0] }];
    const finished = await bubblewrap(python('probe.py'), {
      filter: { ptrace: true },
      stdin: JSON.stringify(probe),
    });
    expect(JSON.parse(finished.stdout)).toEqual(['ESRCH']);
    expect(await outcomes(probe, true)).toEqual(['EPERM']);
  });
});
