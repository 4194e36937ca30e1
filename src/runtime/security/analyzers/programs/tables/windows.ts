/** The few commands of Windows whose meaning is plain from the line. */
import type { Rule } from '../rule.js';

const shells = 'powershell powershell.exe pwsh pwsh.exe';

export const windows: readonly Rule[] = [
  { programs: `${shells} cmd cmd.exe mshta rundll32 regsvr32`, runsCode: true },
  { programs: shells, line: /(?:^|\s)-e(?:nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{12,}/i, high: 'Runs code that is hidden in an encoding.' },
  {
    programs: shells,
    line: /^(?=[\s\S]*(?:\biex\b|invoke-expression|downloadstring|downloadfile.*start-process))[\s\S]*(?:http|frombase64)/i,
    high: 'Fetches code from the network and runs it.',
  },
  {
    programs: shells,
    line: /remove-item\b[^;|]*-recurse[^;|]*(?:[a-z]:\\(?:\s|$|\*|windows|users)|\$env:|~|\/(?:\s|$))/i,
    high: 'Removes files of the system.',
  },
  {
    programs: shells,
    line: /set-mppreference|disablerealtimemonitoring|add-mppreference|clear-eventlog|set-executionpolicy\s+(?:unrestricted|bypass)/i,
    high: 'Switches off a protection of the machine.',
  },
  { programs: 'cmd cmd.exe', line: /\b(?:del|rd|rmdir|format)\b[^&|]*\/[sfq]/i, high: 'Removes files of the system.' },
  {
    programs: 'vssadmin vssadmin.exe wbadmin wmic bcdedit wevtutil',
    cases: [
      { line: /\bdelete\b|\bcl\b|clear-log|recoveryenabled|shadowcopy/i, high: 'Removes backups or records of the machine.' },
      { medium: 'Changes records or storage of the machine.' },
    ],
  },
  {
    programs: 'reg reg.exe',
    cases: [
      { line: /^(?:add|delete)\b.*(?:\\run(?:once)?\b|\\services|policies|defender)/is, high: 'Changes what starts by itself.' },
      { line: /^save\b.*\b(?:sam|system|security)\b/i, high: 'Reads password hashes of the system.' },
    ],
  },
  { programs: 'schtasks schtasks.exe', line: /\/create/i, high: 'Schedules commands that run later by themselves.' },
  { programs: 'net net.exe', line: /^(?:user|localgroup)\b.*\/add/i, high: 'Changes accounts, passwords or groups.' },
  {
    programs: 'certutil certutil.exe bitsadmin mshta regsvr32 rundll32',
    line: /https?:|-decode|urlcache|javascript:/i,
    high: 'Fetches or decodes a program in a way that hides it.',
  },
];
