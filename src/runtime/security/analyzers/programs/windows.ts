/** The few commands of Windows whose meaning is plain from the line. */
import { type Checks, each } from './check.js';

export const windows: Checks = {
  ...each('powershell powershell.exe pwsh pwsh.exe', ({ args }, scope) => {
    const line = args.join(' ');
    if (/(?:^|\s)-e(?:nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{12,}/i.test(line))
      scope.high('Runs code that is hidden in an encoding.');
    if (
      /\biex\b|invoke-expression|downloadstring|downloadfile.*start-process/i.test(line) &&
      /http|frombase64/i.test(line)
    )
      scope.high('Fetches code from the network and runs it.');
    if (
      /remove-item\b[^;|]*-recurse[^;|]*(?:[a-z]:\\(?:\s|$|\*|windows|users)|\$env:|~|\/(?:\s|$))/i.test(line)
    )
      scope.high('Removes files of the system.');
    if (
      /set-mppreference|disablerealtimemonitoring|add-mppreference|clear-eventlog|set-executionpolicy\s+(?:unrestricted|bypass)/i.test(
        line,
      )
    )
      scope.high('Switches off a protection of the machine.');
  }),
  ...each('cmd cmd.exe', ({ args }, scope) => {
    if (/\b(?:del|rd|rmdir|format)\b[^&|]*\/[sfq]/i.test(args.join(' ')))
      scope.high('Removes files of the system.');
  }),
  ...each('vssadmin vssadmin.exe wbadmin wmic bcdedit wevtutil', ({ args }, scope) => {
    if (/\bdelete\b|\bcl\b|clear-log|recoveryenabled|shadowcopy/i.test(args.join(' ')))
      scope.high('Removes backups or records of the machine.');
    else scope.medium('Changes records or storage of the machine.');
  }),
  ...each('reg reg.exe', ({ args }, scope) => {
    const line = args.join(' ');
    if (/^(?:add|delete)\b/i.test(line) && /\\run(?:once)?\b|\\services|policies|defender/i.test(line))
      scope.high('Changes what starts by itself.');
    else if (/^save\b.*\b(?:sam|system|security)\b/i.test(line))
      scope.high('Reads password hashes of the system.');
  }),
  ...each('schtasks schtasks.exe', ({ args }, scope) => {
    if (/\/create/i.test(args.join(' '))) scope.high('Schedules commands that run later by themselves.');
  }),
  ...each('net net.exe', ({ args }, scope) => {
    if (/^(?:user|localgroup)\b.*\/add/i.test(args.join(' ')))
      scope.high('Changes accounts, passwords or groups.');
  }),
  ...each('certutil certutil.exe bitsadmin mshta regsvr32 rundll32', ({ args }, scope) => {
    if (/https?:|-decode|urlcache|javascript:/i.test(args.join(' ')))
      scope.high('Fetches or decodes a program in a way that hides it.');
  }),
};
