/** Judges the arguments of any program, also of one without rules: files that it may read or write, addresses, programs that it starts. */

import { quote } from '../../../../base/shell-quote.js';
import { judgeAddress } from '../actions/addresses.js';
import { wordSet } from '../lookup.js';
import { unknownText } from '../paths/place.js';
import { isAttackTool } from '../shell/attack-tools.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { write } from './file-effects.js';

/** Programs that only show, compare or talk about their words. */
const showing = wordSet(
  'echo printf ls ll dir stat file test [ [[ lsblk blkid df du findmnt smartctl udevadm fuser lsof dumpe2fs readlink realpath basename dirname grep egrep fgrep rg which whereis type man info help tldr cowsay logger true false : export declare local readonly set unset alias case cd pushd tree wc cmp diff md5sum sha256sum nvme mount umount fdisk parted lvdisplay pvdisplay vgdisplay hdparm gh git wall notify-send jq yq',
);
/** Programs whose own tables say what their options mean. */
const ownOutput = wordSet(
  'curl wget find test [ [[ mount ssh scp sftp ps set useradd git kubectl aws gcloud az docker podman',
);
const disk = /^\/dev\/(?:[shvx]+d[a-z]\d*|nvme\d\S*|mmcblk\d\S*|md\d+|dm-\d+|mapper\/\S+|disk\/\S+|zd\d+)$/;
const outputOption =
  /^(?:-o|-O|-out|-keyout|--out|--output|--output-?(?:file|dir|document|path)|--log-?file|--outfile|--dest|--destination|--target-?dir|--save|--save-to|--write-to|--pid-?file|--copy-to|--export-to|--dump-header|--trace|--cookie-jar|--dumpfile)$/;
const commandOption =
  /^--?(?:[\w-]*(?:exec|command|cmd|hook|rsh|shell-cmd|callback|editor|pager|on-change|onchange|on-[a-z-]*(?:complete|error|start|stop|exit|download[a-z-]*)|eval|call|script-c|run|to-command|pre-script|post-script|up|down|route-up|learn-address|proxy-?command)|c|x)$/;
const metadata =
  /(?:^|[/@"'\s=])(?:169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200|\[?fd00:ec2::254)/;
const controlSocket = /(?:docker|containerd|crio|podman|dockershim|kubelet|libvirt-sock)\.sock\b/;
const dangerousStart =
  /^(?:(?:\/usr)?\/s?bin\/)?(?:rm|dd|shred|mkfs(?:\.\w+)?|wipefs|chmod|chown|mv|(?:ba|da|z)?sh|curl|wget|nc|ncat|python3?|perl|ruby|node|sudo|cat|find|xargs|kill|pkill|reboot|shutdown|crontab|systemctl|insmod|iptables)$/;

export function judgeAnyProgram(invocation: Invocation, scope: Scope, known: boolean): void {
  const { program, path, args } = invocation;
  if (isAttackTool(program) && !showing.has(program)) scope.high(`${program} is a tool of attackers.`);
  if (/^\/(?:dev\/shm\/|(?:var\/)?tmp\/\.)[^/\0]/.test(scope.place(path)) && path.includes('/'))
    scope.high(`Runs a hidden program from a shared directory: ${path}`);
  if (args.length === 0 || showing.has(program)) return;
  for (const [index, arg] of args.entries()) {
    if (disk.test(arg)) scope.high(`Works on a disk itself: ${arg}`);
    if (metadata.test(arg) && program !== 'ping')
      scope.high('Asks the metadata service of the cloud, which gives out credentials.');
    else if (/^(?:https?|gopher|dict):\/\//.test(arg) && judgeAddress(arg)?.risk === 'high')
      scope.high(judgeAddress(arg)?.reason ?? '');
    if (controlSocket.test(arg)) scope.high('Uses the control socket of the container engine.');
    const value = optionAt(args, index, outputOption);
    if (value !== undefined && !ownOutput.has(program)) write(value, scope, 'Writes');
    const started = optionAt(args, index, commandOption);
    if (started !== undefined && !known && /[\s/]/.test(started)) scope.suspect(started);
  }
  if (!known) judgeUnknownStart(args, scope);
}

/** An unknown program may start what its words name. */
function judgeUnknownStart(args: readonly string[], scope: Scope): void {
  const at = args.findIndex((arg) => dangerousStart.test(arg));
  if (at !== -1) scope.suspect(args.slice(at).map(quote).join(' '));
}

function optionAt(args: readonly string[], index: number, option: RegExp): string | undefined {
  const arg = args[index] ?? '';
  const equals = arg.indexOf('=');
  if (equals > 0 && option.test(arg.slice(0, equals))) return arg.slice(equals + 1);
  const next = args[index + 1];
  if (!option.test(arg) || next === undefined || next.startsWith('-') || next === unknownText)
    return undefined;
  return next;
}
