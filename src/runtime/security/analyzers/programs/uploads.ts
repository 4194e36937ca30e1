/** What goes out through a program that sends. */

import { isDropbox, judgeAddress } from '../actions/addresses.js';
import { wordSet } from '../lookup.js';
import { judgeRemoval, show } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { isConnector, isFetcher, isNetwork } from '../shell/sources.js';
import { operands } from './arguments.js';

/** Programs that print what must not leave: everything in the environment, archives of directories. */
const dumpers = wordSet(
  'env printenv set export declare compgen ps history tcpdump tshark dmesg journalctl last lastlog getent crontab arp netstat ss lsof dpkg arecord xclip xsel wl-paste pbpaste',
);
const packers = wordSet(
  'tar zip cpio pg_dump mysqldump mongodump pg_dumpall sqlite3 dd sqlplus 7z redis-cli',
);
const secretName =
  /(?:^|_)(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIALS?|PAT|APIKEY)(?:_|$)|(?:SECRET|TOKEN|PASSWORD|APIKEY|API_KEY)/i;
const dataOption =
  /^(?:-d|--data.*|-F|--form.*|-T|--upload-file|--post-file|--post-data|--body-data|--body-file|-H|--header)$/;

/** What goes out through a program that sends. */
export function judgeUpload(invocation: Invocation, scope: Scope): void {
  const { behind } = invocation;
  if (behind.length > 0 && behind.some(({ from }) => from.some(({ program: name }) => isFetcher(name)))) {
    if (/^g?make$|^ansible-playbook$/.test(invocation.program))
      scope.high('Runs what is fetched from the network.');
  }
  const { program, args, input, substituted, variables } = invocation;
  if (
    /stratum\d?\+(?:tcp|ssl|tls):|--donate-level|\bxmrig\b|minexmr|nanopool|supportxmr|moneroocean|2miners|ethermine|f2pool|nicehash/i.test(
      args.join(' '),
    ) &&
    !/^(?:grep|rg|echo|printf|ls|pkill|killall|pgrep|git|which|man)$/.test(program)
  )
    scope.high('Uses the machine to mine a currency.');
  const sends =
    isNetwork(program) ||
    /^(?:dig|nslookup|host|ping|mail|mailx|swaks|sendmail|mutt|ftp|sftp|rsync|rclone|aws|gsutil|s5cmd|mc|azcopy|b2|gcloud|az|croc|wormhole|magic-wormhole|ncftpput|lftp|tftp|drill|s3cmd|smbclient|curlftpfs|openssl|ssh)$/.test(
      program,
    );
  if (!sends) return;
  if (program === 'openssl' && args[0] !== 's_client') return;
  const piped = takesInput(invocation);
  if (piped) judgePiped(invocation, scope);
  const fed = substituted.filter(({ program: name }) => !isNetwork(name));
  if (
    fed.some(
      ({ program: name, args: words }) =>
        (dumpers.has(name) && !(name === 'printenv' && words.length > 0)) ||
        (name === 'cat' && words.some((word) => judgeRead(scope.place(word)) !== undefined)),
    )
  )
    scope.high('Sends variables or credentials over the network.');
  else if (
    fed.some(({ program: name }) =>
      /^(?:base64|xxd|whoami|hostname|id|ifconfig|od|tar|ip|getent|last|who|w|crontab|netstat|ss|lsblk|mount|dpkg|ps|gzip|openssl|hexdump)$/.test(
        name,
      ),
    ) &&
    !piped
  )
    scope.high('Sends what a command prints over the network, inside an address or a request.');
  else if (
    /^(?:dig|nslookup|host|ping|drill)$/.test(program) &&
    (fed.length > 0 || (scope.input.from.length > 0 && args.some((arg) => /\0[\w.-]*\.[a-z]/i.test(arg))))
  )
    scope.high('Sends what a command prints over the network, inside a name.');
  const secrets = variables.filter((name) => secretName.test(name));
  const address = args.find((arg) => /^https?:\/\//.test(arg)) ?? '';
  if (
    secrets.length > 0 &&
    address.includes('\0') &&
    /[?&/][^?&/]*\0/.test(address) &&
    !/^https?:\/\/[^/]*\0@/.test(address)
  )
    scope.high(`Puts a secret variable into an address: ${secrets[0]}`);
  else if (
    secrets.length > 0 &&
    args.some(
      (arg, index) =>
        dataOption.test(args[index - 1] ?? '') && arg.includes('\0') && !/authorization|token|key/i.test(arg),
    )
  )
    scope.medium(`Sends a secret variable: ${secrets[0]}`);
  judgeFilesSent(invocation, scope);
  if (
    args.some((arg) => isDropbox(arg)) &&
    (piped ||
      args.some((arg) => dataOption.test(arg) || /^(?:-[dFT].|--data|--upload|--post|--form)/.test(arg)) ||
      fed.length > 0)
  )
    scope.high('Sends data to a service that takes it from anybody.');
  if (
    (isConnector(program) || program === 'openssl') &&
    input.from.some(({ program: name }) => /^(?:ba|da|z|k)?sh$/.test(name))
  )
    scope.high('Connects a shell to the network.');
}

function judgePiped({ program, args: targets, input }: Invocation, scope: Scope): void {
  const names = input.from.map(({ program }) => program);
  const secret = input.from
    .flatMap(({ args }) => args)
    .find((arg) => judgeRead(scope.place(arg)) !== undefined);
  if (secret !== undefined) scope.high(`Sends credentials over the network: ${show(secret)}`);
  if (names.some((name) => dumpers.has(name) && name !== 'ps'))
    scope.high('Sends the variables of the environment over the network.');
  else if (
    input.from.some(
      ({ program: name, args }) =>
        packers.has(name) ||
        (name === 'git' && /^(?:archive|bundle)$/.test(args[0] ?? '')) ||
        (name === 'docker' && /^(?:save|export)$/.test(args[0] ?? '')),
    )
  )
    scope.findings.add(
      program === 'ssh' && !packsValuable(input.from, scope) && !targets.some(isPublicNumber)
        ? 'medium'
        : 'high',
      'Sends an archive over the network.',
    );
  else if (input.from.some(({ variables }) => variables.some((name) => secretName.test(name))))
    scope.high('Sends a secret variable over the network.');
  // Commands for a program of transfer name what it sends.
  const named = (input.text ?? '')
    .split(/[\s'"]+/)
    .slice(0, 64)
    .find((word) => /^[~/]/.test(word) && judgeRead(scope.place(word))?.risk === 'high');
  if (named !== undefined) scope.high(`Sends credentials over the network: ${show(named)}`);
  if (input.file !== undefined) {
    const found = judgeRead(scope.place(input.file));
    if (found !== undefined) scope.high(`Sends ${found.what} over the network: ${show(input.file)}`);
  }
}

/** A machine with a number as its name, outside this network. */
function isPublicNumber(target: string): boolean {
  const [, host] = /^(?:[^@\s]+@)?(\d+\.\d+\.\d+\.\d+)(?::|$)/.exec(target) ?? [];
  return host !== undefined && judgeAddress(host) === undefined;
}

function packsValuable(from: readonly Invocation[], scope: Scope): boolean {
  return from
    .flatMap(({ args }) => operands(args))
    .some(
      (path) =>
        /^(?:\/(?:etc|home|root|var|usr|boot)?|~)(?:\/|$)/.test(scope.place(path)) &&
        path.length > 0 &&
        /^[/~]/.test(path),
    );
}

function takesInput({ program, args, input }: Invocation): boolean {
  if (input.from.length === 0 && input.file === undefined && input.text === undefined) return false;
  if (program === 'curl')
    return args.some((arg) => /[@<]-$|^-$|^\.$/.test(arg) || arg === '@/dev/stdin') || args.includes('-T');
  if (program === 'wget') return args.some((arg) => /^--(?:post|body)-file=(?:-|\/dev\/stdin)/.test(arg));
  if (program === 'aws' || program === 'gsutil' || program === 'rclone')
    return args.includes('-') || args.includes('rcat');
  return program !== 'dig' && program !== 'host' && program !== 'ping';
}

/** Files that the command names as what to send. */
function judgeFilesSent({ program, args }: Invocation, scope: Scope): void {
  for (const [index, arg] of args.entries()) {
    const before = args[index - 1] ?? '';
    const file = dataOption.test(before)
      ? /@(.+)$/.exec(arg)?.[1]
      : (/^(?:-[dF]|--[\w-]+=)[^@]*@(.+)$/.exec(arg)?.[1] ?? /^--(?:post|body)-file=(.+)$/.exec(arg)?.[1]);
    const upload = before === '-T' || before === '--upload-file' ? arg : undefined;
    const sent = file ?? upload;
    if (sent === undefined || sent === '-') continue;
    const found = judgeRead(scope.place(sent));
    if (found !== undefined) scope.high(`Sends ${found.what} over the network: ${show(sent)}`);
    else if (scope.tainted.has(scope.place(sent)))
      scope.high(`Sends variables or credentials over the network: ${show(sent)}`);
    else if (
      /(?:dump|backup|customers?|users|passwords?|secrets?|credentials?|wallet|loot|exfil)[\w-]*(?:\.\w+)+$|\.(?:sql|sqlite3?|db|kdbx|pcap|mdb|bak)(?:\.(?:gz|xz|zip|bz2|enc))?$/i.test(
        sent,
      )
    )
      scope.high(`Sends data over the network: ${show(sent)}`);
    else if (
      /^\/(?:etc|var|proc|root)\//.test(scope.place(sent)) ||
      /^~\/(?:\.|Documents|Desktop|Downloads|Pictures)/.test(scope.place(sent))
    )
      scope.high(`Sends a file of the system over the network: ${show(sent)}`);
  }
  if (
    program !== 'scp' &&
    program !== 'rsync' &&
    program !== 'sftp' &&
    !/^(?:rclone|aws|gsutil|s3cmd|s5cmd|mc|azcopy|b2|gcloud|az|lftp|smbclient|kubectl|docker)$/.test(program)
  )
    return;
  const paths = operands(args.filter((_, index) => !/^-[ieFJoPSc]$/.test(args[index - 1] ?? '')));
  const remote = paths.slice(1).some((path) => /^[^/]+:|^s3:/.test(path));
  if (!remote) return;
  for (const path of paths) {
    if (/^[\w.@-]+:/.test(path)) continue;
    const place = scope.place(path);
    const found = judgeRead(place);
    if (found !== undefined) scope.high(`Sends ${found.what} to another machine: ${show(path)}`);
    else if (/^(?:\/|~|\/etc.*|\/home|\/var)$/.test(place))
      scope.high(`Sends everything below ${show(place)} to another machine.`);
    else if (judgeRemoval(place, true)?.risk === 'high' && /^[~/]/.test(place))
      scope.high(`Sends what is kept at ${show(place)} to another machine.`);
    else if (/^~\//.test(place)) scope.medium(`Sends files of a home to another machine: ${show(place)}`);
  }
}
