/** Compiles the policy into the seccomp filter of a cell. */
import { and, answer, assemble, ifAnyBit, ifAtLeast, ifEqual, type Line, label, load } from './bpf.js';
import {
  type ArgumentTest,
  type Errno,
  errnos,
  type Rule,
  rules,
  type SeccompOptions,
} from './seccomp-policy.js';
import { type Architecture, LAST_KNOWN_SYSCALL, type SyscallName, syscalls } from './syscalls.js';

export type { SeccompOptions } from './seccomp-policy.js';
export type { Architecture } from './syscalls.js';

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;

const auditArchitectures: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;

/**
 * The filter as `bwrap --seccomp FD` reads it: an array of `struct sock_filter`. Everything that runs in the cell
 * inherits it and nothing can take it off.
 */
export function seccompFilter(architecture: Architecture, options: SeccompOptions = {}): Buffer {
  const cases = casesFor(architecture, options);
  return assemble([
    // Numbers mean something else in a foreign ABI (i386 through int 0x80, 32-bit ARM), so none of its calls run.
    load(ARCHITECTURE),
    ifEqual(auditArchitectures[architecture], { no: 'kill' }),
    load(NUMBER),
    // Nobody has judged later calls: to programs this is an older kernel. The x32 ABI, whose numbers have bit 30
    // set, ends here too.
    ifAtLeast(LAST_KNOWN_SYSCALL + 1, { yes: refusal('ENOSYS') }),
    ...search(cases),
    ...(Object.keys(errnos) as Errno[]).flatMap((errno) => [
      label(refusal(errno)),
      answer(ERRNO | errnos[errno]),
    ]),
    label('kill'),
    answer(KILL_PROCESS),
    label('allow'),
    answer(ALLOW),
  ]);
}

/** A system call that the policy names, with the rules about it. */
interface Case {
  readonly number: number;
  readonly rules: readonly Rule[];
}

function casesFor(architecture: Architecture, options: SeccompOptions): Case[] {
  const byNumber = new Map<number, Rule[]>();
  for (const rule of rules) {
    if (rule.unless && options[rule.unless]) continue;
    for (const call of rule.calls) {
      const number = numberOf(call, architecture);
      if (number !== undefined) byNumber.set(number, [...(byNumber.get(number) ?? []), rule]);
    }
  }
  return [...byNumber].map(([number, rules]) => ({ number, rules })).sort((a, b) => a.number - b.number);
}

function numberOf(call: SyscallName, architecture: Architecture): number | undefined {
  return syscalls[call][architecture];
}

/**
 * Binary search for the number. Newer kernels remember which calls the filter always allows and skip it for those; on
 * older ones this keeps every call at a handful of comparisons.
 */
function search(cases: readonly Case[]): Line[] {
  const middle = cases[cases.length >> 1];
  if (middle === undefined) return [];
  if (cases.length === 1) return judge(middle);
  const upper = `from-${middle.number}`;
  return [
    ifAtLeast(middle.number, { yes: upper }),
    ...search(cases.slice(0, cases.length >> 1)),
    label(upper),
    ...search(cases.slice(cases.length >> 1)),
  ];
}

function judge({ number, rules }: Case): Line[] {
  const [first] = rules;
  if (first && !first.when) return [ifEqual(number, { yes: refusal(first.answer), no: 'allow' })];
  return [
    ifEqual(number, { no: 'allow' }),
    ...rules.flatMap((rule, index) => judgeBy(rule, `${number}-rule-${index}`)),
    answer(ALLOW),
  ];
}

/** Answers when every test holds, else continues behind itself. */
function judgeBy(rule: Rule, name: string): Line[] {
  const end = `${name}-end`;
  return [
    ...(rule.when ?? []).flatMap((test, index) => holds(test, `${name}-test-${index}`, end)),
    answer(ERRNO | errnos[rule.answer]),
    label(end),
  ];
}

/** Falls through when the test holds, else jumps to `otherwise`. */
function holds(test: ArgumentTest, name: string, otherwise: string): Line[] {
  const word = load(ARGUMENTS + 8 * test.argument + (test.word === 'high' ? 4 : 0));
  if ('anyBitOf' in test) return [word, ifAnyBit(test.anyBitOf, { no: otherwise })];
  const value = test.mask === undefined ? [word] : [word, and(test.mask)];
  if ('noneOf' in test) return [...value, ...test.noneOf.map((one) => ifEqual(one, { yes: otherwise }))];
  const hit = `${name}-hit`;
  const last = test.oneOf.length - 1;
  const compare = test.oneOf.map((one, index) =>
    ifEqual(one, index === last ? { no: otherwise } : { yes: hit }),
  );
  return [...value, ...compare, label(hit)];
}

const refusal = (errno: Errno): string => `refuse-${errno}`;
