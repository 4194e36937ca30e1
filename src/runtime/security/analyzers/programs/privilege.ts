/** Rights: more of them, or those of somebody else. */
import { own } from '../own.js';
import { judgeRemoval } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import { afterOptions } from '../shell/after-options.js';
import { wrappers } from '../shell/wrappers.js';
import { type Checks, each, has, operands } from './check.js';

const shells = /^(?:.*\/)?(?:r?bash|sh|dash|zsh|ksh|fish)$/;
/** Programs that give a shell when they run as root. */
const escapes =
  /^(?:vim?|nvim|less|more|man|awk|gawk|perl|python[\d.]*|ruby|node|find|nmap|env|tar|zip|ftp|gdb|lua|php|irb|ed|emacs|nano|expect|screen|script|tmux)$/;

export const privilege: Checks = {
  ...each('sudo doas pkexec run0', ({ program, args }, scope) => {
    const words = afterOptions(args, own(wrappers, program) ?? {});
    const first = words[0]?.replace(/^.*\//, '') ?? '';
    if (args.some((arg) => /^-[a-zA-Z]*[is]$|^--(?:login|shell)$/.test(arg)) && words.length === 0)
      scope.high('Opens a shell with the rights of root.');
    else if (shells.test(first) || first === 'su') {
      if (!args.includes('-c') && !args.some((arg) => /\.sh$/.test(arg)))
        scope.high('Opens a shell with the rights of root.');
      else scope.medium('Runs a command with the rights of root.');
    } else if (
      escapes.test(first) &&
      args.some((arg) => /\/bin\/(?:ba|da|z)?sh|:!|exec\b|os\.system|--interactive/.test(arg))
    )
      scope.high('Opens a shell with the rights of root.');
    else if (args.some((arg) => arg === '-l' || arg === '-v' || arg === '-k' || arg === '-K'))
      scope.medium('Asks what may be done with the rights of root.');
    else scope.medium('Runs a command with the rights of root.');
    if (args.some((arg) => /^(?:-u)?#-1$|^#4294967295$/.test(arg)))
      scope.high('Takes the rights of root by a flaw of sudo.');
    if (has(args, 'S', 'stdin') || has(args, 'A', 'askpass'))
      scope.high('Gives the password for more rights by itself.');
  }),
  su: ({ args }, scope) => {
    if (args.some((arg) => arg === '-c' || arg === '--command'))
      scope.medium('Runs a command as another user.');
    else scope.high('Opens a shell as another user.');
  },
  ...each(
    'passwd chpasswd chage usermod gpasswd newgrp vipw visudo adduser useradd groupadd userdel deluser groupdel',
    ({ program, args }, scope) => {
      if (program === 'passwd' && has(args, 'S')) return;
      if (
        /^(?:adduser|useradd|groupadd)$/.test(program) &&
        !args.some((arg) => /^(?:sudo|wheel|root|docker|admin|0)$/.test(arg) || /sudo|wheel/.test(arg))
      )
        scope.medium('Adds an account or a group.');
      else scope.high('Changes accounts, passwords or groups.');
    },
  ),
  ...each('setcap', (_, scope) => scope.high('Gives a program rights of root.')),
  ...each('nsenter', (_, scope) => scope.high('Enters the namespaces of another process.')),
  ...each('unshare chroot setpriv', (_, scope) =>
    scope.medium('Changes what the process sees of the machine.'),
  ),
  ...each('docker podman nerdctl ctr crictl docker-compose', ({ args }, scope) => {
    const line = args.join(' ');
    const starts = args.includes('run') || args.includes('create') || args.includes('exec');
    if (starts && args.includes('--privileged'))
      scope.high('Starts a container with all rights on the machine.');
    if (/docker\.sock|containerd\.sock/.test(line))
      scope.high('Gives the control socket of the container engine away.');
    if (starts && args.some((arg, index) => isHostMount(arg, args[index - 1] ?? '')))
      scope.high('Opens the files of the machine to a container.');
    if (starts && args.some((arg) => /^--(?:pid|ipc|uts|userns)=host$/.test(arg)))
      scope.high('Starts a container inside the namespaces of the machine.');
    if (
      starts &&
      /--cap-add[= ](?:ALL|SYS_ADMIN|(?:CAP_)?(?:SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|SYS_RAWIO|SYS_ADMIN|NET_ADMIN|SYS_BOOT|BPF|DAC_OVERRIDE))|--security-opt[= ](?:seccomp|apparmor|label|systempaths)[=:](?:unconfined|disable)|--device[= ]\/dev\/(?:sd|nvme|mem|kmem|vd|mapper)|--device-cgroup-rule|--cgroupns[= ]host/.test(
        line,
      )
    )
      scope.high('Starts a container with more rights than it should have.');
    if (
      starts &&
      args.some((arg, index) => (arg === '--pid' || arg === '--ipc') && args[index + 1] === 'host')
    )
      scope.high('Starts a container inside the namespaces of the machine.');
  }),
  ...each('gdb lldb strace ltrace', ({ args, substituted }, scope) => {
    if (!args.some((arg) => /^(?:-p|--pid.*|--attach-pid|-p\d+)$/.test(arg))) return;
    const line = args.join(' ');
    const changes =
      /\bcall\b|\bprint\b.*\(|\bset\b|\bsystem\b|dlopen|\bp \(|trace=.*(?:read|write)|-e\s+(?:read|write)/.test(
        line,
      );
    const daemon = substituted.some(({ args: words }) =>
      words.some((word) => /sshd|gpg-agent|ssh-agent|login|sudo|keyring/.test(word)),
    );
    if (changes || daemon || / 1(?: |$)/.test(line)) scope.high('Reaches into a running process.');
    else scope.medium('Looks into a running process.');
  }),
  ...each('reptyr injector inject pwninject ptrace dlinject.py linux-inject', (_, scope) =>
    scope.high('Reaches into a running process.'),
  ),
  machinectl: ({ args }, scope) => {
    if (args[0] === 'shell') scope.high('Opens a shell as another user.');
  },
  capsh: ({ args }, scope) => {
    if (args.some((arg) => /^--(?:uid|gid)=0/.test(arg))) scope.high('Takes the rights of root.');
  },
  sudoedit: ({ args }, scope) => {
    scope.medium('Runs a command with the rights of root.');
    if (args.some((arg) => /^\/etc\//.test(arg)))
      scope.high('Changes the configuration of the system as root.');
  },
  dockerd: ({ args }, scope) => {
    if (args.some((arg) => /tcp:\/\//.test(arg)))
      scope.high('Opens the control of the container engine to the network.');
  },
  ...each('setenforce aa-teardown aa-disable aa-complain', ({ program, args }, scope) => {
    if (program !== 'setenforce' || /^(?:0|permissive)$/i.test(args[0] ?? ''))
      scope.high('Switches off a protection of the machine.');
  }),
  chroot: ({ args }, scope) => {
    if (operands(args).some((path) => /^\/(?:host|mnt|hostfs|rootfs)\b/.test(path)))
      scope.high('Enters the file system of the machine.');
  },
};

function isHostMount(arg: string, before: string): boolean {
  const bind =
    before === '-v' || before === '--volume' ? arg : (/^(?:-v|--volume=)(.+)$/.exec(arg)?.[1] ?? '');
  const source = bind !== '' ? (bind.split(':')[0] ?? '') : (/(?:source|src)=([^,]+)/.exec(arg)?.[1] ?? '');
  if (source === '') return false;
  if (judgeRead(source.startsWith('~') ? source : source.replace(/^\$HOME/, '~'))?.risk === 'high')
    return true;
  if (source === '/' || /^\/(?:etc|root|proc|sys|boot|dev|var|usr|home)\/?$/.test(source)) return true;
  return judgeRemoval(source, true)?.risk === 'high' && source.startsWith('/');
}
