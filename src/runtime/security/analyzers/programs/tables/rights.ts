/** Rights: more of them, or another user's. */
import { judgeRemoval, show } from '../../paths/changes.js';
import { judgeRead } from '../../paths/sensitive.js';
import { afterOptions } from '../../shell/after-options.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { has, operands } from '../arguments.js';
import type { Rule } from '../rule.js';
import { elevators, sudoValues } from './starts.js';

const rootShell = 'Opens a shell with the rights of root.';
const asRoot = 'Runs a command with the rights of root.';
const intoProcess = 'Reaches into a running process.';
const unprotected = 'Switches off a protection of the machine.';
const inside = 'Starts a container inside the namespaces of the machine.';

const shells = /^(?:.*\/)?(?:r?bash|sh|dash|zsh|ksh|fish)$/;
/** Programs that give a shell when they run as root. */
const escapes =
  /^(?:vim?|nvim|less|more|man|awk|gawk|perl|python[\d.]*|ruby|node|find|nmap|env|tar|zip|ftp|gdb|lua|php|irb|ed|emacs|nano|expect|screen|script|tmux)$/;
const engines = 'docker podman nerdctl ctr crictl docker-compose';
const starting = 'run create exec';
const excessive =
  /--cap-add[= ](?:ALL|SYS_ADMIN|(?:CAP_)?(?:SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|SYS_RAWIO|SYS_ADMIN|NET_ADMIN|SYS_BOOT|BPF|DAC_OVERRIDE))|--security-opt[= ](?:seccomp|apparmor|label|systempaths)[=:](?:unconfined|disable)|--device[= ]\/dev\/(?:sd|nvme|mem|kmem|vd|mapper)|--device-cgroup-rule|--cgroupns[= ]host/;

export const rights: readonly Rule[] = [
  {
    programs: elevators,
    cases: [
      { test: opensRootShell, high: rootShell },
      { arg: '-l -v -k -K', unless: { test: startsShell }, medium: 'Asks what may be done with the rights of root.' },
      { medium: asRoot },
    ],
  },
  { programs: elevators, arg: '#-1 -u#-1 #4294967295', high: 'Takes the rights of root by a flaw of sudo.' },
  { programs: elevators, option: '-S -A --stdin --askpass', high: 'Gives the password for more rights by itself.' },
  { programs: 'su', cases: [{ arg: '-c --command', medium: 'Runs a command as another user.' }, { high: 'Opens a shell as another user.' }] },
  {
    programs: 'adduser useradd groupadd',
    cases: [{ arg: /^(?:root|docker|admin|0)$|sudo|wheel/, high: 'Changes accounts, passwords or groups.' }, { medium: 'Adds an account or a group.' }],
  },
  {
    programs: 'passwd chpasswd chage usermod gpasswd newgrp vipw visudo userdel deluser groupdel',
    cases: [{ program: 'passwd', option: '-S', low: true }, { high: 'Changes accounts, passwords or groups.' }],
  },
  { programs: 'ssh-keygen', arg: '-p', value: { '-N': /^$/ }, high: 'Takes the password off a key.' },
  { programs: 'setcap', high: 'Gives a program rights of root.' },
  { programs: 'nsenter', high: 'Enters the namespaces of another process.' },
  { programs: 'unshare setpriv chroot', medium: 'Changes what the process sees of the machine.' },
  { programs: 'chroot', operand: /^\/(?:host|mnt|hostfs|rootfs)\b/, high: 'Enters the file system of the machine.' },
  { programs: engines, arg: starting, line: ['--privileged'], high: 'Starts a container with all rights on the machine.' },
  { programs: engines, line: /docker\.sock|containerd\.sock/, high: 'Gives the control socket of the container engine away.' },
  {
    programs: engines,
    arg: starting,
    test: ({ args }) => args.some((arg, index) => isHostMount(arg, args[index - 1] ?? '')),
    high: 'Opens the files of the machine to a container.',
  },
  { programs: engines, arg: starting, line: /(?:^| )--(?:pid|ipc|uts|userns)=host(?: |$)/, high: inside },
  { programs: engines, arg: starting, line: ['--pid host', '--ipc host'], high: inside },
  { programs: engines, arg: starting, line: excessive, high: 'Starts a container with more rights than it should have.' },
  {
    programs: 'gdb lldb strace ltrace',
    arg: /^(?:-p|--pid.*|--attach-pid|-p\d+)$/,
    cases: [
      { line: /\bcall\b|\bprint\b.*\(|\bset\b|\bsystem\b|dlopen|\bp \(|trace=.*(?:read|write)|-e\s+(?:read|write)| 1(?: |$)/, high: intoProcess },
      { test: looksIntoDaemon, high: intoProcess },
      { medium: 'Looks into a running process.' },
    ],
  },
  { programs: 'reptyr injector inject pwninject ptrace dlinject.py linux-inject', high: intoProcess },
  { programs: 'machinectl', verb: 'shell', high: 'Opens a shell as another user.' },
  { programs: 'capsh', arg: '--uid=0* --gid=0*', high: 'Takes the rights of root.' },
  { programs: 'sudoedit', medium: asRoot },
  { programs: 'sudoedit', arg: '/etc/*', high: 'Changes the configuration of the system as root.' },
  { programs: 'dockerd', arg: /tcp:\/\//, high: 'Opens the control of the container engine to the network.' },
  { programs: 'setenforce', verb: /^(?:0|permissive)$/i, high: unprotected },
  { programs: 'aa-teardown aa-disable aa-complain', high: unprotected },
  { programs: 'chmod chown chgrp setfacl chattr', judge: judgeRights },
  { programs: 'chattr', arg: /^[+-][ia]+$/, medium: 'Makes files that cannot be changed, or lifts that.' },
];

/** What an elevator starts. */
function elevated({ program, args }: Invocation): string[] {
  return afterOptions(args, { values: sudoValues(program), assignments: program === 'sudo' });
}

function startsShell(invocation: Invocation): boolean {
  const first = elevated(invocation)[0]?.replace(/^.*\//, '') ?? '';
  return shells.test(first) || first === 'su';
}

function opensRootShell(invocation: Invocation): boolean {
  const { args } = invocation;
  const words = elevated(invocation);
  if (args.some((arg) => /^-[a-zA-Z]*[is]$|^--(?:login|shell)$/.test(arg)) && words.length === 0) return true;
  if (startsShell(invocation)) return !args.includes('-c') && !args.some((arg) => /\.sh$/.test(arg));
  return escapes.test(words[0]?.replace(/^.*\//, '') ?? '') && args.some((arg) => /\/bin\/(?:ba|da|z)?sh|:!|exec\b|os\.system|--interactive/.test(arg));
}

function looksIntoDaemon({ substituted }: Invocation): boolean {
  return substituted.some(({ args }) => args.some((word) => /sshd|gpg-agent|ssh-agent|login|sudo|keyring/.test(word)));
}

function isHostMount(arg: string, before: string): boolean {
  const bind = before === '-v' || before === '--volume' ? arg : (/^(?:-v|--volume=)(.+)$/.exec(arg)?.[1] ?? '');
  const source = bind !== '' ? (bind.split(':')[0] ?? '') : (/(?:source|src)=([^,]+)/.exec(arg)?.[1] ?? '');
  if (source === '') return false;
  if (judgeRead(source.startsWith('~') ? source : source.replace(/^\$HOME/, '~'))?.risk === 'high') return true;
  if (source === '/' || /^\/(?:etc|root|proc|sys|boot|dev|var|usr|home)\/?$/.test(source)) return true;
  return judgeRemoval(source, true)?.risk === 'high' && source.startsWith('/');
}

/** Who may do what with a file. */
function judgeRights({ program, args }: Invocation, scope: Scope): void {
  const recursive = has(args, 'R', 'recursive');
  const words = operands(args.filter((arg) => !/^-[rwxXst]+$/.test(arg)));
  // Its entry follows an option, or there is none.
  const [mode = '', ...paths] = program === 'setfacl' ? ['', ...words] : words;
  const minus = args.find((arg) => /^[-+=]?-[rwxst]+$/.test(arg));
  if (program === 'chmod' && (/^[0-7]*[2467][0-7]{3}$/.test(mode) || /[ugoa]*[+=][rwx]*s/.test(mode)))
    scope.high('Makes a program that runs with the rights of its owner.');
  for (const path of minus === undefined || program !== 'chmod' ? paths : [mode, ...paths]) judgeRightsOf(path, mode, recursive, scope);
  if (program === 'chmod' && /^0?[0-7]?77[67]$|^a\+rwx$|^\+rwx$|^o\+w|^a=rwx$|^ugo\+rwx$/.test(mode)) scope.medium('Lets everybody write.');
  if (program === 'chown' && /^(?:root|0)\b/.test(mode)) scope.medium('Gives files to root.');
}

function judgeRightsOf(path: string, mode: string, recursive: boolean, scope: Scope): void {
  const place = scope.place(path);
  if (scope.downloaded.has(place) && /x|[1357]/.test(mode)) scope.medium(`Makes a fetched file executable: ${show(place)}`);
  if (/^\/\0/.test(place) || /^\/(?:home|root|var)\/\0/.test(path)) scope.high('Changes the rights of files all over the machine.');
  if (/^~\/\.(?:ssh|gnupg|aws|kube)(?:\/|$)/.test(place) && /^0?[0-7]?[0-7][4-7][0-7]?$|^[ugoa]*\+[rwx]*r|^a=/.test(mode) && !/^0?[0-7]00$/.test(mode))
    scope.high(`Opens keys to others: ${show(place)}`);
  const top = judgeRemoval(place, true);
  if (recursive && top?.risk === 'high' && place !== '.' && !place.startsWith('./')) scope.high(`Changes the rights of everything below ${show(place)}`);
  else if (/^\/(?:etc|bin|sbin|usr|lib\w*|boot|dev|proc|sys|root|var\/(?:log|lib|spool|run))(?:\/|$)/.test(place) && !place.startsWith('/usr/local/'))
    scope.high(`Changes the rights of a file of the system: ${show(place)}`);
  else if (/docker\.sock$/.test(place)) scope.high('Opens the control socket of the container engine.');
}
