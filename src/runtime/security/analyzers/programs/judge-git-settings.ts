/** Settings of git, some of which make it run programs. */
import type { Scope } from '../shell/scope.js';

const programKeys =
  /^(?:core\.(?:sshcommand|fsmonitor|editor|pager|gitproxy|askpass|hookspath)|alias\.\w+|credential(?:\..*)?\.helper|filter\..*\.(?:clean|smudge)|diff\..*\.(?:command|textconv)|sequence\.editor|uploadpack\.packobjectshook|protocol\.ext\.allow|gpg\.program|init\.templatedir|merge\..*\.driver|.*\.textconv|include(?:if\..*)?\.path)$/i;
/** Values that switch a setting off, or name a program that does nothing. */
const startsNothing = /^(?:|true|false|yes|no|on|off|0|1|:|cat|\/dev\/null)$/i;
export const worldWritable = /(?:^|[\s!'"=])\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/;

/** Judges one setting, wherever the command makes it. */
export function judgeSetting(key: string, value: string, scope: Scope): void {
  const [, replacing] = /^url\.(.+)\.(?:push)?insteadof$/i.exec(key) ?? [];
  if (replacing !== undefined && hostOf(replacing) !== hostOf(value))
    scope.high(`Makes git go to another server than it is told: ${replacing}`);
  if (/helper$/i.test(key) && /\b(?:nc|ncat|socat|curl|wget|telnet)\b|\/dev\/tcp\//.test(value))
    scope.high('Sends passwords of git over the network.');
  if (/^(?:http\.(?:.*\.)?sslverify)$/i.test(key) && /^(?:false|0|no)$/i.test(value))
    scope.medium('Switches off the check of who a server is.');
  if (!programKeys.test(key) || startsNothing.test(value)) return;
  // Anybody on the machine may put a program there.
  if (worldWritable.test(value)) scope.high(`Makes git run a program from a shared directory: ${key}`);
  if (/^alias\./.test(key) && !value.startsWith('!')) return;
  if (/^core\.(?:editor|pager)$/i.test(key) && !/[;|&$`/]/.test(value)) return;
  if (/helper$/i.test(key) && !value.startsWith('!') && !value.includes('/')) {
    scope.medium('Stores passwords of git.');
    return;
  }
  scope.medium(`Makes git run a program: ${key}`);
  if (!/hookspath|templatedir|^include/i.test(key)) scope.read(value.replace(/^!/, ''));
}

/** `key=value` in one word. */
export function judgeSettingText(setting: string, scope: Scope): void {
  const [key = ''] = setting.split('=', 1);
  judgeSetting(key, setting.slice(key.length + 1), scope);
}

/** Of an address in any of the forms that git knows. */
function hostOf(address: string): string {
  return /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]*)/i.exec(address)?.[1] ?? '';
}

/** The verb of git and what follows it. */
export function afterGlobalOptions(args: readonly string[]): string[] {
  let index = 0;
  while (index < args.length && (args[index] ?? '').startsWith('-'))
    index += /^(?:-c|-C|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/.test(
      args[index] ?? '',
    )
      ? 2
      : 1;
  return args.slice(index);
}
