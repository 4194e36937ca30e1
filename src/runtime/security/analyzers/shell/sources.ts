/** Judges code by where it comes from, when we do not know its text. */
import { wordSet } from '../lookup.js';
import { isAttackTool } from './attack-tools.js';
import type { Invocation, Result } from './invocation.js';
import type { Scope } from './scope.js';

const fetchers = wordSet(
  'curl wget aria2c axel http https httpie xh fetch lynx w3m GET ftp tftp scp sftp gsutil elinks links',
);
const connectors = wordSet('nc ncat netcat nc.openbsd nc.traditional socat telnet websocat');
const decoders = wordSet(
  'base64 base32 xxd uudecode openssl gunzip zcat xzcat bzcat gpg unxz bunzip2 rev tr gzip xz basenc hexdump dig nslookup host',
);
/** Programs that print settings for the shell that starts them, as their manuals say. */
const initializers = wordSet(
  'ssh-agent direnv pyenv rbenv nodenv brew minikube opam conda micromamba mamba starship zoxide dircolors fnm mise asdf docker-machine keychain thefuck register-python-argcomplete kubectl gh npm rustup lesspipe luarocks perl tset resize gpgconf fzf atuin goenv jenv phpenv hub pipx uv poetry helm flux podman vault aws-vault echo printf locale cargo',
);

export function isFetcher(program: string): boolean {
  return fetchers.has(program);
}

export function isConnector(program: string): boolean {
  return connectors.has(program);
}

export function isNetwork(program: string): boolean {
  return fetchers.has(program) || connectors.has(program);
}

/** `what` begins the sentence of the reason: "The input of sh". */
export function judgeSource(from: readonly Invocation[], scope: Scope, what: string): void {
  const programs = from.map(({ program }) => program);
  if (programs.some(isFetcher)) scope.high(`${what} is fetched from the network and run unseen.`);
  else if (
    programs.some(isConnector) ||
    from.some(({ program, args }) => program === 'openssl' && args[0] === 's_client')
  )
    scope.high(`${what} comes from a network connection: whoever is at its other end gives the commands.`);
  else if (from.some(({ program, args }) => program === 'ssh' && args.length > 1))
    scope.high(`${what} comes from another machine and is run unseen.`);
  else if (from.some(isDecoder)) scope.high(`${what} is decoded from a form that hides it, and run.`);
  else if (from.some(spellsOut)) scope.high(`${what} is put together letter by letter, and run.`);
  else if (programs.length > 0 && !programs.every((program) => initializers.has(program)))
    scope.medium(`${what} is made by ${programs.at(-1)} and is not known before it runs.`);
}

/** Judges a file that runs: a fetched one, or one behind `<( )`. */
export function judgeFile(path: string, behind: readonly Result[], scope: Scope, what: string): void {
  if (path.startsWith('/dev/fd/')) for (const { from } of behind) judgeSource(from, scope, what);
  else if (/^\/dev\/(?:tcp|udp)\//.test(path)) scope.high(`${what} comes from a network connection.`);
  else if (scope.downloaded.size > 0 && scope.downloaded.has(scope.place(path)))
    scope.high(`${what} was fetched from the network and is run unseen: ${path}`);
  else if (isAttackTool(path.split('/').at(-1) ?? '')) scope.high(`${what} is a tool of attackers: ${path}`);
  else if (/^\/(?:dev\/shm|(?:var\/)?tmp\/\.)[^/]*/.test(scope.place(path)) && !path.includes('\0'))
    scope.high(`${what} lies hidden in a shared directory: ${path}`);
}

/** Code that makes text out of numbers. */
function spellsOut({ program, args }: Invocation): boolean {
  return (
    /^(?:[gm]?awk|perl|python[\d.]*|ruby|node|php|lua|printf)$/.test(program) &&
    args.some((arg) =>
      /%c|\bpack\b|\bchr\s*\(|fromCharCode|unhexlify|fromhex|b64decode|base64|rot13|\[::-1\]|\breverse\b|\\x[0-9a-f]{2}/.test(
        arg,
      ),
    )
  );
}

/** Programs that decode text which people write only to hide something. */
export function isHidden({ program, args }: Invocation): boolean {
  return (
    (/^(?:base64|base32|basenc|openssl)$/.test(program) &&
      args.some((arg) => /^-\w*[dD]|^--decode/.test(arg))) ||
    (program === 'xxd' && args.some((arg) => /^-\w*r/.test(arg))) ||
    program === 'uudecode'
  );
}

/** Programs that bring a hidden form back. */
export function isDecoder({ program, args }: Pick<Invocation, 'program' | 'args'>): boolean {
  if (!decoders.has(program)) return false;
  if (program === 'tr') return args.some((arg) => /a-z|A-Z|\[:|!-~/.test(arg));
  if (program === 'gzip' || program === 'xz') return args.some((arg) => /^-\w*d/.test(arg));
  return true;
}
