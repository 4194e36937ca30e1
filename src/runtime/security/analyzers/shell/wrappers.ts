/** Programs that only start another one. What counts is what they start. */
import { own } from '../own.js';
import { afterOptions, type Starts, type Wrapper } from './after-options.js';
import type { Invocation } from './invocation.js';
import type { Scope } from './scope.js';
import { specialWrappers } from './special-wrappers.js';

export interface Unwrapped {
  readonly starts: Starts;
  readonly elevated: boolean;
}

export const wrappers: Readonly<Record<string, Wrapper | undefined>> = {
  sudo: {
    values: [
      '-u',
      '-g',
      '-h',
      '-p',
      '-C',
      '-r',
      '-t',
      '-D',
      '-R',
      '-T',
      '-U',
      '--user',
      '--group',
      '--host',
      '--prompt',
      '--chdir',
    ],
    assignments: true,
    elevated: true,
  },
  doas: { values: ['-u', '-C'], elevated: true },
  pkexec: { values: ['--user'], elevated: true },
  run0: { values: ['--user', '-u'], elevated: true },
  env: { values: ['-u', '-C', '--unset', '--chdir'], assignments: true },
  nohup: {},
  setsid: {},
  command: {},
  builtin: {},
  exec: { values: ['-a'] },
  time: { values: ['-f', '-o'] },
  nice: { values: ['-n', '--adjustment'] },
  ionice: { values: ['-c', '-n', '-p'] },
  chrt: { skip: 1 },
  stdbuf: { values: ['-i', '-o', '-e'] },
  timeout: { values: ['-s', '-k', '--signal', '--kill-after'], skip: 1 },
  gtimeout: { values: ['-s', '-k'], skip: 1 },
  chroot: { skip: 1 },
  unshare: {},
  nsenter: { values: ['-t', '--target', '-S', '-G'] },
  strace: { values: ['-o', '-e', '-p', '-s', '-u', '-E'] },
  ltrace: { values: ['-o', '-e', '-p', '-s', '-u'] },
  taskset: { skip: 1 },
  prlimit: {},
  'systemd-run': {
    values: [
      '-u',
      '--unit',
      '-p',
      '--property',
      '-M',
      '--machine',
      '--uid',
      '--gid',
      '--on-active',
      '--on-calendar',
    ],
  },
  'systemd-inhibit': {},
  firejail: {},
  torsocks: {},
  torify: {},
  proxychains: {},
  proxychains4: {},
  busybox: {},
  toybox: {},
  chronic: {},
  unbuffer: {},
  fakeroot: {},
  'dbus-run-session': {},
  'xvfb-run': { values: ['-s', '-n', '--server-args'] },
  caffeinate: {},
  catchsegv: {},
  setarch: {},
  setpriv: { values: ['--reuid', '--regid'] },
  capsh: {},
  bwrap: { values: ['--bind', '--ro-bind', '--dev', '--proc', '--tmpfs', '--chdir', '--setenv'] },
  proot: { values: ['-r', '-b', '-w'] },
  cpulimit: { values: ['-l', '-p', '--limit'] },
  daemonize: { values: ['-c', '-e', '-o', '-p', '-l', '-u'] },
  gosu: { skip: 1 },
  'su-exec': { skip: 1 },
  setuidgid: { skip: 1 },
  chpst: { values: ['-u', '-U', '-e', '-n'] },
  tini: {},
  'dumb-init': {},
  numactl: {},
  cgexec: { values: ['-g'] },
  'systemd-cat': { values: ['-t', '-p'] },
  rlwrap: {},
  sshpass: { values: ['-p', '-f', '-e'] },
  autossh: { values: ['-M'] },
  valgrind: {},
  faketime: { skip: 1 },
  'cross-env': { assignments: true },
  'dbus-launch': {},
  trickle: { values: ['-d', '-u'] },
  mosh: { skip: 1 },
  linux64: {},
  linux32: {},
  sg: { skip: 1 },
  watch: { values: ['-n', '--interval'], joined: true },
  'ssh-agent': {},
  entr: {},
  hyperfine: { values: ['-w', '-r', '-m', '-n', '--warmup', '--runs'], joined: true },
};

/** True for a program whose way of starting others is known. */
export function startsOthers(program: string): boolean {
  return Object.hasOwn(wrappers, program) || Object.hasOwn(specialWrappers, program);
}

/** What an invocation really starts; nothing when it is a program of its own. */
export function unwrap(invocation: Invocation, scope: Scope): Unwrapped | undefined {
  const { program, args } = invocation;
  const special = own(specialWrappers, program)?.(invocation, scope);
  if (special !== undefined) return { starts: special, elevated: false };
  const wrapper = own(wrappers, program);
  if (wrapper === undefined) return undefined;
  const rest = afterOptions(args, wrapper);
  if (rest.length === 0) return undefined;
  const start = wrapper.joined ? { argv: [], source: rest.join(' ') } : { argv: rest };
  return { starts: [start], elevated: wrapper.elevated ?? false };
}
