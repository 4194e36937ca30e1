/** The policy on system calls as a profile that an engine takes: the same that a sandbox has, on top of an allow-list. */
import {
  type Errno,
  errnos,
  type Rule,
  rules,
  type SeccompOptions,
} from '../../../cell/launchers/seccomp/seccomp-policy.js';
import type { SyscallName } from '../../../cell/launchers/seccomp/syscalls.js';
import { type Box, boxesOf } from './boxes.js';
import { allowedNames } from './names.js';

interface ProfileRule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly {
    readonly index: number;
    readonly op: 'SCMP_CMP_MASKED_EQ';
    readonly value: bigint;
    readonly valueTwo: bigint;
  }[];
}

/**
 * The answer to calls that no rule covers. A runtime answers calls that its engine does not know yet as nonexistent.
 */
const usualAnswer: Errno = 'EPERM';

/** Families, types and protocols of sockets are smaller numbers. */
const unknownNumbers = 512n;

const made = new Map<boolean, string>();

/** As JSON, for the option `seccomp=` of a container. */
export function seccompProfile({ setgidFiles = false }: Pick<SeccompOptions, 'setgidFiles'> = {}): string {
  const known = made.get(setgidFiles);
  if (known !== undefined) return known;
  const profile = print({
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: errnos[usualAnswer],
    // No other ABI beside the machine's own: numbers mean something else there.
    archMap: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].map((architecture) => ({
      architecture,
      subArchitectures: [],
    })),
    syscalls: profileRules({ setgidFiles }),
  });
  made.set(setgidFiles, profile);
  return profile;
}

function profileRules(options: SeccompOptions): ProfileRule[] {
  const byCall = new Map<SyscallName, Rule[]>();
  for (const rule of rules) {
    if (rule.unless && options[rule.unless]) continue;
    for (const call of rule.calls) byCall.set(call, [...(byCall.get(call) ?? []), rule]);
  }
  return [
    { names: allowedNames, action: 'SCMP_ACT_ALLOW' },
    ...[...byCall].flatMap(([call, about]) =>
      boxesOf(about)
        .filter((box) => box.answer === 'allow' || needsOwnAnswer(box))
        .map((box) => toRule(call, box)),
    ),
  ];
}

/** Only attackers pass numbers that no kernel knows, and to them any refusal will do. */
function needsOwnAnswer({ answer, patterns }: Box): boolean {
  return answer !== usualAnswer && [...patterns.values()].every(({ value }) => value < unknownNumbers);
}

function toRule(call: SyscallName, { patterns, answer }: Box): ProfileRule {
  return {
    names: [call],
    ...(answer === 'allow'
      ? { action: 'SCMP_ACT_ALLOW' as const }
      : { action: 'SCMP_ACT_ERRNO' as const, errnoRet: errnos[answer] }),
    ...(patterns.size > 0 && {
      args: [...patterns].map(([index, { mask, value }]) => ({
        index,
        op: 'SCMP_CMP_MASKED_EQ' as const,
        value: mask,
        valueTwo: value,
      })),
    }),
  };
}

/** JSON knows integers of any size; its printer here does not. */
function print(profile: object): string {
  const text = JSON.stringify(profile, (_, value) =>
    typeof value === 'bigint' ? `integer ${value}` : value,
  );
  return text.replaceAll(/"integer (\d+)"/g, '$1');
}
