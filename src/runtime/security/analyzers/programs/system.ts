/** The machine as a whole: processes, kernel, network filter, clock, logs, history. */
import type { Invocation } from '../shell/invocation.js';
import { type Checks, each, has, operands } from './check.js';

/** Where keys and passwords of the machine and its users are found. */
const searched = /^(?:\/|\/etc|\/home|\/root|\/var|\/opt|\/srv|~|~\/\.(?!cache)[^/]*)(?:\/\*?)?$/;

/** Processes without which the machine does not work, or nobody watches it. */
const vital =
  /^(?:systemd(?:-\w+)?|init|sshd|dockerd|auditd|rsyslogd|syslog-ng|journald|crond?|dbus-daemon|containerd|kubelet|falcon-sensor|falcond|osqueryd|clamd|freshclam|wdavdaemon|fail2ban-server|ossec\S*|wazuh\S*|filebeat|auditbeat|snort|suricata|crowdsec|firewalld|NetworkManager|Xorg|gnome-shell|mdatp|sentinel\S*|aide|crowdstrike\S*|carbonblack\S*|defender\S*)$/;

function listsAll({ program, args }: Invocation): boolean {
  return program === 'ps' && args.some((arg) => /^-?(?:A|e|ax|aux|eo|Ao)/.test(arg));
}

export const system: Checks = {
  ...each('shutdown reboot halt poweroff kexec', ({ args }, scope) => {
    if (args.includes('-c') || args.includes('--help') || args.includes('-l')) return;
    scope.high('Stops or restarts the machine.');
  }),
  init: ({ args }, scope) => {
    if (/^[0-6sS]$/.test(args[0] ?? '')) scope.high('Stops or restarts the machine.');
  },
  kill: ({ args, variables, substituted }, scope) => {
    if (args.includes('-l') || args.includes('-L')) return;
    const named = /^-(?:s|n)$/.test(args[0] ?? '');
    const signalled = named || /^-(?:\d+|[A-Z]+\d*|SIG\w+)$/.test(args[0] ?? '');
    const targets = args
      .slice(named ? 2 : signalled && args.length > 1 ? 1 : 0)
      .filter((arg) => arg !== '--');
    if (variables.includes('$') && /^-(?:9|KILL|SIGKILL)$/.test(args[0] ?? ''))
      scope.high('Ends the shell before it records its history.');
    if (
      substituted.some((producer) => listsAll(producer)) &&
      !substituted.some(({ program }) => /^(?:grep|awk|head|tail|pgrep|lsof|fuser)$/.test(program))
    )
      scope.high('Ends every process it may end.');
    for (const producer of substituted)
      if (
        /^(?:pgrep|pidof)$/.test(producer.program) &&
        operands(producer.args).some((name) => vital.test(name))
      )
        scope.high('Ends a process that the machine needs.');
    if (targets.includes('-1')) scope.high('Ends every process it may end.');
    else if (targets.includes('1')) scope.high('Signals the first process of the machine.');
  },
  ...each('telinit initctl', (_, scope) => scope.high('Stops or restarts the machine.')),
  ...each(
    'xinput xdotool xspy logkeys xmacrorec2 evtest xclip xsel wl-paste pbpaste scrot import gnome-screenshot arecord parecord screencapture',
    ({ program, args }, scope) => {
      if (
        /^(?:logkeys|xspy|evtest|xmacrorec2)$/.test(program) ||
        (program === 'xinput' && /test/.test(args.join(' ')))
      )
        scope.high('Records what is typed.');
      else if (/^(?:arecord|parecord|screencapture|scrot|import|gnome-screenshot)$/.test(program))
        scope.medium('Records the screen or what is said.');
    },
  ),
  ...each('utmpdump wtmpclean lastlog faillog wipe-utmp', ({ args }, scope) => {
    if (has(args, 'rCS', 'reverse', 'clear', 'set', 'reset'))
      scope.high('Changes the record of who logged in.');
  }),
  bpftool: ({ args }, scope) => {
    if (/\b(?:load|loadall|attach|pin|detach)\b/.test(args.join(' ')))
      scope.high('Loads or removes a part of the kernel.');
  },
  log: ({ args }, scope) => {
    if (args[0] === 'erase') scope.high('Removes the logs of the machine.');
  },
  ...each('stress stress-ng', (_, scope) => scope.medium('Loads the machine on purpose.')),
  ...each(
    'falconctl mdatp clamdscan esets sentinelctl osqueryctl auditbeat wazuh-control cbagentd rkhunter chkrootkit aide tripwire',
    ({ args }, scope) => {
      if (
        /\b(?:disable\w*|disabled|stop|unload|uninstall|exclusion|off|--delete|remove|init|--update)\b/.test(
          args.join(' '),
        )
      )
        scope.high('Switches off a protection of the machine.');
    },
  ),
  killall5: (_, scope) => scope.high('Ends every process it may end.'),
  ...each('pkill killall', ({ args }, scope) => {
    const targets = operands(args);
    if (
      targets.some((target) => /^(?:\.|\.\*|\*|)$/.test(target)) ||
      (args.includes('-u') && targets.length <= 1 && targets[0] === 'root')
    )
      scope.high('Ends every process it may end.');
    else if (args.some((arg) => arg === '-u' || arg === '--user'))
      scope.medium('Ends all processes of a user.');
    else if (targets.some((target) => vital.test(target)))
      scope.high('Ends a process that the machine needs.');
  }),
  ...each('insmod modprobe rmmod kmod depmod', ({ program, args }, scope) => {
    if (program === 'kmod' && args[0] === 'list') return;
    if (args.length > 0 && !args.some((arg) => /^(?:-n|--dry-run|-c|--showconfig|-D)$/.test(arg)))
      scope.high('Loads or removes a part of the kernel.');
  }),
  sysctl: ({ args }, scope) => {
    const set = args.filter((arg) => /^[\w./-]+\s*=/.test(arg));
    const usual =
      /^(?:vm\.(?:max_map_count|swappiness|overcommit_memory|nr_hugepages)|fs\.(?:inotify\.\w+|file-max|nr_open|aio-max-nr)|net\.core\.(?:somaxconn|[rw]mem_max)|net\.ipv4\.(?:ip_local_port_range|ip_unprivileged_port_start|tcp_\w+)|kernel\.(?:shmmax|shmall|pid_max|threads-max))/;
    if (set.length > 0 && set.every((arg) => usual.test(arg)))
      scope.medium('Changes a setting of the kernel.');
    else if (set.length > 0 || has(args, 'wp', 'write', 'load', 'system'))
      scope.high('Changes a setting of the kernel.');
  },
  ...each('iptables ip6tables nft ufw firewall-cmd pfctl ebtables', ({ program, args }, scope) => {
    if (
      args.some((arg) => /^(?:-F|--flush|-X|flush|disable|reset|--panic-on|-d)$/.test(arg)) ||
      (args.includes('-P') && args.includes('ACCEPT')) ||
      (has(args, 'D', 'delete') && args.some((arg) => /^(?:DROP|REJECT)$/.test(arg))) ||
      (program === 'ufw' && args.includes('logging') && args.includes('off')) ||
      (program === 'pfctl' && args.includes('-d'))
    )
      scope.high('Switches off the network filter.');
    else if (
      args.length > 0 &&
      !has(args, 'LSn', 'list', 'list-all', 'state') &&
      !/^(?:list|status|show)$/.test(args[0] ?? '')
    )
      scope.medium('Changes the network filter.');
  }),
  ...each('ip ifconfig route nmcli', ({ args }, scope) => {
    const cuts = args.some((arg) => /^(?:down|flush|del|delete|off|disconnect)$/.test(arg));
    if (
      cuts &&
      args.some((arg) => /^(?:eth|en[opsx]|wl|bond|ens)\w*|^default$|^networking$|^radio$/.test(arg))
    )
      scope.high('Cuts the machine off the network.');
    else if (cuts) scope.medium('Changes the network of the machine.');
  }),
  ...each('date timedatectl hwclock', ({ program, args }, scope) => {
    if (
      program === 'date'
        ? has(args, 's', 'set') && args.some((arg) => /^-s|^--set/.test(arg))
        : /^set-|--set|--hctosys/.test(args.join(' '))
    )
      scope.medium('Sets the clock of the machine.');
  }),
  history: ({ args }, scope) => {
    if (/^(?:clear|delete|clear-session)$/.test(args[0] ?? ''))
      scope.high('Removes what the shell has recorded.');
    if (args.some((arg) => /^-[a-z]*[cdw]/.test(arg))) scope.high('Removes what the shell has recorded.');
  },
  journalctl: ({ args }, scope) => {
    if (args.some((arg) => /^--vacuum-(?:time=[01]\w*|size=[01]\w*|files=[01])$/.test(arg)))
      scope.high('Removes the logs of the machine.');
    else if (args.some((arg) => /^--(?:vacuum|rotate)/.test(arg)))
      scope.medium('Removes old logs of the machine.');
  },
  dmesg: ({ args }, scope) => {
    if (args.some((arg) => /^(?:-C|-c|--clear|--read-clear)$/.test(arg)))
      scope.high('Removes the log of the kernel.');
  },
  auditctl: ({ args }, scope) => {
    if (args.some((arg) => /^-[DWd]$/.test(arg)) || (args.includes('-e') && args.includes('0')))
      scope.high('Switches off the audit of the machine.');
  },
  ...each('logrotate', ({ args }, scope) => {
    if (args.includes('-f')) scope.medium('Rotates the logs of the machine.');
  }),
  ...each('fsutil cipher', (_, scope) => scope.medium('Changes records or storage of the machine.')),
  ln: ({ args }, scope) => {
    const [from, to] = operands(args);
    if (from === '/dev/null' && /_history$|\/var\/log/.test(scope.place(to ?? '')))
      scope.high('Keeps a record from being written.');
  },
  ulimit: ({ args }, _scope) => {
    if (args.includes('-c') && args.includes('unlimited')) return;
  },
  yes: ({ redirects }, scope) => {
    if (redirects.some(({ target }) => target !== '/dev/null'))
      scope.medium('Writes without an end until the disk is full.');
  },
  tail: ({ args }, scope) => {
    if (args.some((arg) => /^\/dev\/(?:zero|u?random|full)$/.test(arg)))
      scope.high('Reads without an end until the memory is full.');
  },
  ...each('gcore procdump', (_, scope) => scope.high('Writes out the memory of a process.')),
  ...each('gdb lldb', ({ args }, scope) => {
    if (/generate-core-file|dump memory|process save-core/.test(args.join(' ')))
      scope.high('Writes out the memory of a process.');
  }),
  loginctl: ({ args }, scope) => {
    if (/^(?:terminate|kill)-/.test(args[0] ?? '')) scope.high('Ends all that a user runs.');
  },
  ...each('spctl csrutil nvram', ({ args }, scope) => {
    if (/disable|authenticated-root/.test(args.join(' ')))
      scope.high('Switches off a protection of the machine.');
  }),
  getent: ({ args }, scope) => {
    if (/^g?shadow$/.test(args[0] ?? '')) scope.high('Reads password hashes of the system.');
  },
  ...each('env printenv', ({ program, args }, scope) => {
    if (program === 'printenv' && args.some((arg) => /TOKEN|SECRET|PASSWORD|_KEY/i.test(arg)))
      scope.medium('Prints a secret variable.');
  }),
  ...each('grep egrep rg', ({ args, input }, scope) => {
    const searching = /pass(?:wor)?d|secret|token|api_?key|credential|PRIVATE KEY|aws_|AKIA|ghp_|BEGIN RSA/i;
    if (
      input.from.some(({ program }) => /^(?:env|printenv|set|export)$/.test(program)) &&
      args.some((arg) => searching.test(arg))
    )
      scope.medium('Prints secret variables.');
    const words = operands(args);
    if (
      args.some((arg) => searching.test(arg)) &&
      words.slice(1).some((path) => searched.test(scope.place(path)))
    )
      scope.high('Searches the machine for keys and passwords.');
  }),
  echo: ({ variables }, scope) => {
    if (variables.some((name) => /(?:SECRET|TOKEN|PASSWORD|_KEY)(?:_|$)/.test(name) && !/PUBLIC/.test(name)))
      scope.medium('Prints a secret variable.');
  },
};
