import { describe, expect, test } from 'vitest';
import { type SeccompOptions, seccompFilter } from '../../../../src/cell/launchers/seccomp/index.js';
import { errnos, rules } from '../../../../src/cell/launchers/seccomp/seccomp-policy.js';
import {
  LAST_KNOWN_SYSCALL,
  type SyscallName,
  syscalls,
} from '../../../../src/cell/launchers/seccomp/syscalls.js';
import { judge, jumpTargets } from './interpreter.js';
import { allowed, type Probe, refused } from './probes.js';

const machines = [
  { architecture: 'x64', auditArchitecture: 0xc000003e, foreign: [0x40000003, 0xc00000b7, 0] },
  { architecture: 'arm64', auditArchitecture: 0xc00000b7, foreign: [0x40000028, 0xc000003e, 0] },
] as const;

describe.each(machines)('the filter of $architecture', ({ architecture, auditArchitecture, foreign }) => {
  const ask = (number: number, parameters: Probe['arguments'] = [], options: SeccompOptions = {}) =>
    judge(seccompFilter(architecture, options), {
      auditArchitecture,
      number,
      arguments: parameters.map((each) => (typeof each === 'string' ? 0x7fff_1234_5678 : each)),
    });
  const exists = ({ call }: Probe) => syscalls[call][architecture] !== undefined;
  const numberOf = (call: SyscallName) => syscalls[call][architecture] ?? Number.NaN;

  test.each(refused.filter(exists))('refuses $title', (probe) => {
    expect(ask(numberOf(probe.call), probe.arguments)).toEqual({ errno: errnos[probe.answer] });
  });

  test.each(allowed.filter(exists))('allows $title', (probe) => {
    expect(ask(numberOf(probe.call), probe.arguments)).toBe('allow');
  });

  test('allows every number the policy does not name', () => {
    const named = new Set(Object.values(syscalls).map((numbers) => numbers[architecture]));
    for (let number = 0; number <= LAST_KNOWN_SYSCALL; number += 1) {
      if (!named.has(number)) expect(ask(number, [-1, -1, -1, -1, -1, -1]), `${number}`).toBe('allow');
    }
  });

  test('takes later calls, the x32 ABI and negative numbers for unknown', () => {
    for (const number of [LAST_KNOWN_SYSCALL + 1, 512, 547, 1024, 0x40000000, 0x40000000 | 39, -1]) {
      expect(ask(number)).toEqual({ errno: errnos.ENOSYS });
    }
  });

  test.each(foreign)('kills a call of architecture %i, harmless or not', (other) => {
    for (const number of [0, 20, 165, 0x40000000]) {
      expect(judge(seccompFilter(architecture), { auditArchitecture: other, number })).toBe('kill');
    }
  });

  test('lifts only what an option names', () => {
    const tracing = new Set<SyscallName>([
      'ptrace',
      'process_vm_readv',
      'process_vm_writev',
      'pidfd_getfd',
      'kcmp',
    ]);
    for (const probe of refused.filter(exists)) {
      const expected = tracing.has(probe.call) ? 'allow' : { errno: errnos[probe.answer] };
      expect(ask(numberOf(probe.call), probe.arguments, { ptrace: true }), probe.title).toEqual(expected);
    }
    expect(ask(numberOf('fchmodat'), [-100, 0, 0o4755], { setuidFiles: true })).toBe('allow');
    expect(ask(numberOf('fchmodat'), [-100, 0, 0o2755], { setgidFiles: true })).toBe('allow');
    expect(ask(numberOf('fchmodat'), [-100, 0, 0o6755], { setgidFiles: true })).toEqual({
      errno: errnos.EPERM,
    });
    expect(ask(numberOf('mknodat'), [-100, 0, 0o024755], { setuidFiles: true })).toEqual({
      errno: errnos.EPERM,
    });
  });

  test('is a program the kernel takes', () => {
    const filter = seccompFilter(architecture);
    expect(filter.length % 8).toBe(0);
    expect(filter.length / 8).toBeLessThan(512);
    expect(Math.max(...jumpTargets(filter))).toBeLessThan(filter.length / 8);
  });
});

test('every rule has a reason and every call it names a probe', () => {
  const probed = new Set(refused.map(({ call }) => call));
  for (const rule of rules) {
    expect(rule.because).not.toBe('');
    for (const call of rule.calls) expect(probed, `no probe for ${call}`).toContain(call);
  }
  expect(Object.keys(syscalls).sort()).toEqual([...new Set(rules.flatMap(({ calls }) => calls))].sort());
});
