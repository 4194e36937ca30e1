/** The machine as a whole: processes, kernel, network filter, clock, logs, history. */
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { has, operands } from '../arguments.js';
import type { Rule } from '../rule.js';

/** Where the machine and its users keep keys and passwords. */
const searched = /^(?:\/|\/etc|\/home|\/root|\/var|\/opt|\/srv|~|~\/\.(?!cache)[^/]*)(?:\/\*?)?$/;
const secretWords = /pass(?:wor)?d|secret|token|api_?key|credential|PRIVATE KEY|aws_|AKIA|ghp_|BEGIN RSA/i;

/** Processes without which the machine does not work, or is not monitored. */
const vital =
  /^(?:systemd(?:-\w+)?|init|sshd|dockerd|auditd|rsyslogd|syslog-ng|journald|crond?|dbus-daemon|containerd|kubelet|falcon-sensor|falcond|osqueryd|clamd|freshclam|wdavdaemon|fail2ban-server|ossec\S*|wazuh\S*|filebeat|auditbeat|snort|suricata|crowdsec|firewalld|NetworkManager|Xorg|gnome-shell|mdatp|sentinel\S*|aide|crowdstrike\S*|carbonblack\S*|defender\S*)$/;
/** Settings of the kernel that honest work needs. */
const usualSetting =
  /^(?:vm\.(?:max_map_count|swappiness|overcommit_memory|nr_hugepages)|fs\.(?:inotify\.\w+|file-max|nr_open|aio-max-nr)|net\.core\.(?:somaxconn|[rw]mem_max)|net\.ipv4\.(?:ip_local_port_range|ip_unprivileged_port_start|tcp_\w+)|kernel\.(?:shmmax|shmall|pid_max|threads-max))/;

const stopped = 'Stops or restarts the machine.';
const allEnded = 'Ends every process it may end.';
const kernelPart = 'Loads or removes a part of the kernel.';
const unprotected = 'Switches off a protection of the machine.';
const unfiltered = 'Switches off the network filter.';
const cleared = 'Removes what the shell has recorded.';
const memory = 'Writes out the memory of a process.';

export const machine: readonly Rule[] = [
  { programs: 'shutdown reboot halt poweroff kexec', unless: { arg: '-c --help -l' }, high: stopped },
  { programs: 'init', verb: /^[0-6sS]$/, high: stopped },
  { programs: 'telinit initctl', high: stopped },
  { programs: 'kill', unless: { arg: '-l -L' }, judge: judgeKill },
  { programs: 'killall5', high: allEnded },
  {
    programs: 'pkill killall',
    cases: [
      { operand: /^(?:\.|\.\*|\*|)$/, high: allEnded },
      { arg: '-u', test: ({ args }) => operands(args).join(' ') === 'root', high: allEnded },
      { arg: '-u --user', medium: 'Ends all processes of a user.' },
      { operand: vital, high: 'Ends a process that the machine needs.' },
    ],
  },
  { programs: 'logkeys xspy evtest xmacrorec2', high: 'Records what is typed.' },
  { programs: 'xinput', line: /test/, high: 'Records what is typed.' },
  { programs: 'arecord parecord screencapture scrot import gnome-screenshot', medium: 'Records the screen or what is said.' },
  { programs: 'xdotool xclip xsel wl-paste pbpaste', low: true },
  {
    programs: 'utmpdump wtmpclean lastlog faillog wipe-utmp',
    option: '-r -C -S --reverse --clear --set --reset',
    high: 'Changes the record of who logged in.',
  },
  { programs: 'bpftool', line: /\b(?:load|loadall|attach|pin|detach)\b/, high: kernelPart },
  { programs: 'log', verb: 'erase', high: 'Removes the logs of the machine.' },
  { programs: 'stress stress-ng', medium: 'Loads the machine on purpose.' },
  {
    programs: 'falconctl mdatp clamdscan esets sentinelctl osqueryctl auditbeat wazuh-control cbagentd rkhunter chkrootkit aide tripwire',
    line: /\b(?:disable\w*|disabled|stop|unload|uninstall|exclusion|off|--delete|remove|init|--update)\b/,
    high: unprotected,
  },
  {
    programs: 'insmod modprobe rmmod kmod depmod',
    count: 1,
    cases: [{ program: 'kmod', verb: 'list', low: true }, { arg: '-n --dry-run -c --showconfig -D', low: true }, { high: kernelPart }],
  },
  {
    programs: 'sysctl',
    cases: [
      {
        test: ({ args }) => setsKernel(args).length > 0 && setsKernel(args).every((arg) => usualSetting.test(arg)),
        medium: 'Changes a setting of the kernel.',
      },
      { test: ({ args }) => setsKernel(args).length > 0 || has(args, 'wp', 'write', 'load', 'system'), high: 'Changes a setting of the kernel.' },
    ],
  },
  {
    programs: 'iptables ip6tables nft ufw firewall-cmd pfctl ebtables',
    count: 1,
    cases: [
      { arg: '-F --flush -X flush disable reset --panic-on -d', high: unfiltered },
      { arg: '-P', line: ['ACCEPT'], high: unfiltered },
      { option: '-D --delete', line: ['DROP', 'REJECT'], high: unfiltered },
      { program: 'ufw', arg: 'logging', line: ['off'], high: unfiltered },
      { option: '-L -S -n --list --list-all --state', low: true },
      { test: ({ args }) => /^(?:list|status|show)$/.test(args[0] ?? ''), low: true },
      { medium: 'Changes the network filter.' },
    ],
  },
  {
    programs: 'ip ifconfig route nmcli',
    arg: 'down flush del delete off disconnect',
    cases: [
      {
        test: ({ args }) => args.some((arg) => /^(?:eth|en[opsx]|wl|bond|ens)\w*|^default$|^networking$|^radio$/.test(arg)),
        high: 'Cuts the machine off the network.',
      },
      { medium: 'Changes the network of the machine.' },
    ],
  },
  { programs: 'date', arg: /^-s|^--set/, option: '-s --set', medium: 'Sets the clock of the machine.' },
  { programs: 'timedatectl hwclock', line: /^set-|--set|--hctosys/, medium: 'Sets the clock of the machine.' },
  { programs: 'history', verb: 'clear delete clear-session', high: cleared },
  { programs: 'history', arg: /^-[a-z]*[cdw]/, high: cleared },
  {
    programs: 'journalctl',
    cases: [
      { arg: /^--vacuum-(?:time=[01]\w*|size=[01]\w*|files=[01])$/, high: 'Removes the logs of the machine.' },
      { arg: '--vacuum* --rotate*', medium: 'Removes old logs of the machine.' },
    ],
  },
  { programs: 'dmesg', arg: '-C -c --clear --read-clear', high: 'Removes the log of the kernel.' },
  { programs: 'auditctl', arg: '-D -W -d', high: 'Switches off the audit of the machine.' },
  { programs: 'auditctl', arg: '-e', line: ['0'], high: 'Switches off the audit of the machine.' },
  { programs: 'logrotate', arg: '-f', medium: 'Rotates the logs of the machine.' },
  { programs: 'fsutil cipher', medium: 'Changes records or storage of the machine.' },
  { programs: 'ln', test: linksRecordAway, high: 'Keeps a record from being written.' },
  { programs: 'ulimit', low: true },
  { programs: 'yes', test: ({ redirects }) => redirects.some(({ target }) => target !== '/dev/null'), medium: 'Writes without an end until the disk is full.' },
  { programs: 'tail', arg: '/dev/zero /dev/random /dev/urandom /dev/full', high: 'Reads without an end until the memory is full.' },
  { programs: 'gcore procdump', high: memory },
  { programs: 'gdb lldb', line: /generate-core-file|dump memory|process save-core/, high: memory },
  { programs: 'spctl csrutil nvram', line: /disable|authenticated-root/, high: unprotected },
  { programs: 'getent', verb: 'shadow gshadow', high: 'Reads password hashes of the system.' },
  { programs: 'printenv', arg: /TOKEN|SECRET|PASSWORD|_KEY/i, medium: 'Prints a secret variable.' },
  { programs: 'grep egrep rg', from: 'env printenv set export', arg: secretWords, medium: 'Prints secret variables.' },
  {
    programs: 'grep egrep rg',
    arg: secretWords,
    test: ({ args }, scope) =>
      operands(args)
        .slice(1)
        .some((path) => searched.test(scope.place(path))),
    high: 'Searches the machine for keys and passwords.',
  },
  {
    programs: 'echo',
    test: ({ variables }) => variables.some((name) => /(?:SECRET|TOKEN|PASSWORD|_KEY)(?:_|$)/.test(name) && !/PUBLIC/.test(name)),
    medium: 'Prints a secret variable.',
  },
];

function setsKernel(args: readonly string[]): readonly string[] {
  return args.filter((arg) => /^[\w./-]+\s*=/.test(arg));
}

function linksRecordAway({ args }: Invocation, scope: Scope): boolean {
  const [from, to] = operands(args);
  return from === '/dev/null' && /_history$|\/var\/log/.test(scope.place(to ?? ''));
}

function judgeKill({ args, variables, substituted }: Invocation, scope: Scope): void {
  const named = /^-(?:s|n)$/.test(args[0] ?? '');
  const signalled = named || /^-(?:\d+|[A-Z]+\d*|SIG\w+)$/.test(args[0] ?? '');
  const targets = args.slice(named ? 2 : signalled && args.length > 1 ? 1 : 0).filter((arg) => arg !== '--');
  if (variables.includes('$') && /^-(?:9|KILL|SIGKILL)$/.test(args[0] ?? '')) scope.high('Ends the shell before it records its history.');
  if (substituted.some(listsAll) && !substituted.some(({ program }) => /^(?:grep|awk|head|tail|pgrep|lsof|fuser)$/.test(program))) scope.high(allEnded);
  for (const producer of substituted)
    if (/^(?:pgrep|pidof)$/.test(producer.program) && operands(producer.args).some((name) => vital.test(name)))
      scope.high('Ends a process that the machine needs.');
  if (targets.includes('-1')) scope.high(allEnded);
  else if (targets.includes('1')) scope.high('Signals the first process of the machine.');
}

function listsAll({ program, args }: Invocation): boolean {
  return program === 'ps' && args.some((arg) => /^-?(?:A|e|ax|aux|eo|Ao)/.test(arg));
}
