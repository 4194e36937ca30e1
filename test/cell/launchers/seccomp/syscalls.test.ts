import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Architecture,
  LAST_KNOWN_SYSCALL,
  syscalls,
} from '../../../../src/cell/launchers/seccomp/syscalls.js';

const headers: Readonly<Record<Architecture, readonly string[]>> = {
  x64: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'],
  // arm64 uses the generic table; its calls that are missing there do not exist on arm64.
  arm64: ['/usr/include/asm-generic/unistd.h'],
};
/** Since this number, new calls have the same number on every architecture. */
const FIRST_COMMON = 424;

describe.each(['x64', 'arm64'] as const)('numbers of %s', (architecture) => {
  test('agree with the kernel headers', (context) => {
    const header = headers[architecture].find((path) => existsSync(path));
    if (header === undefined) return context.skip(`no kernel headers at ${headers[architecture].join(', ')}`);
    const defined = numbersIn(header);
    const newest = Math.max(...defined.values());
    for (const [name, numbers] of Object.entries(syscalls)) {
      const number = numbers[architecture];
      // Headers older than a call cannot speak about it; the common numbering below does.
      if (number !== undefined && number > newest) continue;
      expect(number, name).toBe(defined.get(name));
    }
  });

  test('are distinct and known', () => {
    const numbers = Object.values(syscalls).flatMap((each) => each[architecture] ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(LAST_KNOWN_SYSCALL);
  });
});

test('later calls have one number on both architectures', () => {
  for (const [name, { x64, arm64 }] of Object.entries(syscalls)) {
    if (Math.max(x64, arm64 ?? 0) >= FIRST_COMMON) expect(arm64, name).toBe(x64);
  }
});

function numbersIn(header: string): Map<string, number> {
  const defines = readFileSync(header, 'utf8').matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm);
  // __NR_syscalls is a count, and the generic table ends in numbers that only old 32-bit ports have.
  const real = [...defines].filter(([, name, number]) => name !== 'syscalls' && Number(number) < 1024);
  return new Map(real.map(([, name = '', number]) => [name, Number(number)]));
}
