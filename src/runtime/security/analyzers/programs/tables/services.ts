/** What makes a program run later, or again, by itself. */
import { unknownText } from '../../paths/place.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { has } from '../arguments.js';
import type { Rule } from '../rule.js';

const protectors =
  /^(?:auditd|apparmor|ufw|pf|ipfw|shorewall|firewalld|fail2ban|rsyslog|syslog|syslog-ng|systemd-journald|selinux|crowdsec|falcon-sensor|clamav-daemon|osqueryd|iptables|nftables|wazuh-agent|auditbeat|filebeat|falco|falcon|clamd|clamav-freshclam|mdatp|sentinelone|sentinelagent|cbdaemon|cylance|osqueryd|ossec|aide|suricata|snort|sysmon|cron|crond|systemd-timesyncd|chronyd|unattended-upgrades|sshguard|auoms|ds_agent|nessusd|qualys-cloud-agent|snapd\.apparmor)(?:\.service)?$/;

const scheduled = 'Schedules commands that run later by themselves.';
const unprotected = 'Switches off a protection of the machine.';
const sharedPlace = /^(?:\/tmp|\/dev\/shm|\/var\/tmp)\//;

export const services: readonly Rule[] = [
  {
    programs: 'crontab',
    runsCode: true,
    cases: [
      { option: '-r', high: 'Removes all scheduled commands of a user.' },
      { option: '-l', low: true },
      { high: scheduled, judge: readSchedule },
    ],
  },
  {
    programs: 'at batch',
    runsCode: true,
    unless: { test: ({ args, input }) => has(args, 'lcd') || (args.length === 0 && input.from.length === 0) },
    high: scheduled,
  },
  {
    programs: 'systemctl',
    cases: [
      { verb: 'poweroff reboot halt kexec suspend hibernate rescue emergency isolate soft-reboot', high: 'Stops or restarts the machine.' },
      { verb: 'stop disable mask kill', arg: protectors, high: unprotected },
      { verb: 'enable link start reenable', arg: /^[./~]/, high: 'Makes a service of a file of choice.' },
      { verb: 'enable link edit set-default preset reenable set-environment import-environment', medium: 'Makes a service start by itself.' },
      { verb: 'stop disable mask restart start daemon-reload kill reload unmask', unless: { arg: '--user' }, medium: 'Changes the services of the machine.' },
    ],
  },
  {
    programs: 'service',
    cases: [
      { words: /^\S+ (?:stop|disable)(?: |$)/, verb: protectors, high: unprotected },
      { words: /^\S+ (?:stop|start|restart)(?: |$)/, medium: 'Changes the services of the machine.' },
    ],
  },
  {
    programs: 'update-alternatives',
    cases: [
      { place: /^(?:\/tmp|\/dev\/shm|\/var\/tmp|~|\/home)\//, high: 'Puts a program of choice in the place of another.' },
      { arg: '--install --set', medium: 'Changes which program a name stands for.' },
    ],
  },
  { programs: 'dpkg-divert', arg: '--rename --add', high: 'Puts something else in the place of a file of the system.' },
  {
    programs: 'loginctl',
    cases: [
      { verb: 'enable-linger', high: 'Lets programs of a user run without anybody logged in.' },
      { verb: 'terminate-* kill-*', high: 'Ends all that a user runs.' },
    ],
  },
  { programs: 'incrontab fcrontab', runsCode: true, high: scheduled },
  { programs: 'update-rc.d chkconfig rc-update', medium: 'Makes a service start by itself.' },
  { programs: 'launchctl', verb: 'load bootstrap submit enable kickstart', high: 'Makes a service start by itself.' },
  { programs: 'systemd-run', arg: '--on-* --timer-*', high: scheduled },
  { programs: 'ssh-copy-id', medium: 'Lets a key log in to a machine.', highWhen: { arg: /^(?:root@.*|(?:[^@]*@)?(?:localhost|127\.[\d.]+|::1))$/ } },
  { programs: 'nohup setsid disown', arg: sharedPlace, test: (_, scope) => scope.downloaded.size > 0, high: 'Leaves a fetched program running.' },
];

function readSchedule({ input }: Invocation, scope: Scope): void {
  if (input.text !== undefined && !input.text.includes(unknownText)) scope.read(input.text.replace(/^\s*(?:@\w+|(?:\S+\s+){5})/gm, ''));
}
