/** What makes something run later, or again, by itself. */
import { unknownText } from '../paths/place.js';
import { type Checks, each, has } from './check.js';

const protectors =
  /^(?:auditd|apparmor|ufw|pf|ipfw|shorewall|firewalld|fail2ban|rsyslog|syslog|syslog-ng|systemd-journald|selinux|crowdsec|falcon-sensor|clamav-daemon|osqueryd|iptables|nftables|wazuh-agent|auditbeat|filebeat|falco|falcon|clamd|clamav-freshclam|mdatp|sentinelone|sentinelagent|cbdaemon|cylance|osqueryd|ossec|aide|suricata|snort|sysmon|cron|crond|systemd-timesyncd|chronyd|unattended-upgrades|sshguard|auoms|ds_agent|nessusd|qualys-cloud-agent|snapd\.apparmor)(?:\.service)?$/;

export const persistence: Checks = {
  crontab: ({ args, input }, scope) => {
    if (args.length > 0 && has(args, 'l') && !has(args, 'r')) return;
    if (has(args, 'r')) return scope.high('Removes all scheduled commands of a user.');
    scope.high('Schedules commands that run later by themselves.');
    if (input.text !== undefined && !input.text.includes(unknownText))
      scope.read(input.text.replace(/^\s*(?:@\w+|(?:\S+\s+){5})/gm, ''));
  },
  ...each('at batch', ({ args, input }, scope) => {
    if (has(args, 'lcd') || (args.length === 0 && input.from.length === 0)) return;
    scope.high('Schedules commands that run later by themselves.');
  }),
  systemctl: ({ args }, scope) => {
    const verb = args.find((arg) => !arg.startsWith('-')) ?? '';
    if (/^(?:poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate|soft-reboot)$/.test(verb))
      scope.high('Stops or restarts the machine.');
    else if (/^(?:stop|disable|mask|kill)$/.test(verb) && args.some((arg) => protectors.test(arg)))
      scope.high('Switches off a protection of the machine.');
    else if (/^(?:enable|link|start|reenable)$/.test(verb) && args.some((arg) => /^[./~]/.test(arg)))
      scope.high('Makes a service of a file of choice.');
    else if (
      /^(?:enable|link|edit|set-default|preset|reenable|set-environment|import-environment)$/.test(verb)
    )
      scope.medium('Makes a service start by itself.');
    else if (
      /^(?:stop|disable|mask|restart|start|daemon-reload|kill|reload|unmask)$/.test(verb) &&
      !args.includes('--user')
    )
      scope.medium('Changes the services of the machine.');
  },
  service: ({ args }, scope) => {
    if (/^(?:stop|disable)$/.test(args[1] ?? '') && protectors.test(args[0] ?? ''))
      scope.high('Switches off a protection of the machine.');
    else if (/^(?:stop|start|restart)$/.test(args[1] ?? ''))
      scope.medium('Changes the services of the machine.');
  },
  'update-alternatives': ({ args }, scope) => {
    if (args.some((arg) => /^(?:\/tmp|\/dev\/shm|\/var\/tmp|~|\/home)\//.test(scope.place(arg))))
      scope.high('Puts a program of choice in the place of another.');
    else if (args.some((arg) => /^--(?:install|set)$/.test(arg)))
      scope.medium('Changes which program a name stands for.');
  },
  'dpkg-divert': ({ args }, scope) => {
    if (args.some((arg) => arg === '--rename' || arg === '--add'))
      scope.high('Puts something else in the place of a file of the system.');
  },
  loginctl: ({ args }, scope) => {
    if (args[0] === 'enable-linger') scope.high('Lets programs of a user run without anybody logged in.');
  },
  ...each('incrontab fcrontab', (_, scope) => scope.high('Schedules commands that run later by themselves.')),
  ...each('update-rc.d chkconfig rc-update', (_, scope) => scope.medium('Makes a service start by itself.')),
  launchctl: ({ args }, scope) => {
    if (/^(?:load|bootstrap|submit|enable|kickstart)$/.test(args[0] ?? ''))
      scope.high('Makes a service start by itself.');
  },
  ...each('systemd-run', ({ args }, scope) => {
    if (args.some((arg) => /^--(?:on-|timer-)/.test(arg)))
      scope.high('Schedules commands that run later by themselves.');
  }),
  'ssh-copy-id': ({ args }, scope) => {
    const own = args.some((arg) => /^(?:root@.*|(?:[^@]*@)?(?:localhost|127\.[\d.]+|::1))$/.test(arg));
    scope.findings.add(own ? 'high' : 'medium', 'Lets a key log in to a machine.');
  },
  ...each('nohup setsid disown', ({ args }, scope) => {
    if (args.some((arg) => /^(?:\/tmp|\/dev\/shm|\/var\/tmp)\/\.?/.test(arg)) && scope.downloaded.size > 0)
      scope.high('Leaves a fetched program running.');
  }),
};
