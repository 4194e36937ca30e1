/** Programs that fetch, listen and connect. */
import { judgeAddress } from '../../actions/addresses.js';
import { show } from '../../paths/changes.js';
import { judgeRead } from '../../paths/sensitive.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { filesFetched } from '../fetched-files.js';
import { write } from '../file-effects.js';
import type { Rule } from '../rule.js';

const connects = 'Connects a program to the network.';
const listens = 'Waits for connections from the network.';
const wayIn = 'Opens a way into this machine from the network.';
const fromShell = 'Opens a network connection from the shell.';

export const network: readonly Rule[] = [
  { programs: 'curl wget wget2 aria2c http https xh fetch lynx axel', judge: judgeFetch },
  {
    programs: 'curl wget aria2c http https xh fetch lynx axel',
    value: { '-X --request': /^delete$/i },
    medium: 'Deletes something on a server.',
    highWhen: { arg: /:\/\/[^/]+\/(?:_all|\*|)(?:$|\?)/ },
  },
  {
    programs: 'wget http https xh',
    value: { '--method': /^delete$/i },
    medium: 'Deletes something on a server.',
    highWhen: { arg: /:\/\/[^/]+\/(?:_all|\*|)(?:$|\?)/ },
  },
  {
    programs: 'curl wget aria2c http https xh fetch lynx axel',
    value: { '--unix-socket': /docker\.sock/ },
    high: 'Talks to the control socket of the container engine.',
  },
  { programs: 'wget', value: { '--use-askpass': /./ }, high: 'Starts a program through an option of wget.' },
  {
    programs: 'nc ncat netcat nc.traditional nc.openbsd',
    cases: [
      { arg: /^-[a-zA-Z]*[ec]$|^--(?:sh-)?exec|^--lua-exec/, high: connects },
      { option: '-l --listen', medium: listens },
      { unless: { option: '-z' }, test: exchanges, medium: 'Exchanges data over a plain connection.' },
    ],
  },
  {
    programs: 'socat',
    runsCode: true,
    cases: [
      { arg: /^(?:exec|system|shell):/i, high: connects },
      { arg: /(?:tcp|udp|openssl)\d?-(?:l|listen)/i, medium: listens },
    ],
  },
  { programs: 'ssh', test: forwardsBack, high: 'Opens a way into this machine from another one.' },
  { programs: 'ssh scp sftp', arg: /proxycommand|localcommand/i, high: 'Starts a program through an option of ssh.' },
  {
    programs: 'ngrok cloudflared localtunnel lt bore frpc frp zrok tailscale pagekite serveo inlets rathole gost',
    cases: [
      { program: 'tailscale', unless: { line: /\bfunnel\b|\bssh\b|authkey|advertise/ }, low: true },
      { line: /\btcp\b|\bssh\b|:22\b|\b(?:22|3389|5900|2375)\b|authkey|--url (?:ssh|tcp|rdp)/, high: wayIn },
      { medium: wayIn },
    ],
  },
  {
    programs: 'xterm uxterm xfreerdp x11vnc vncserver',
    cases: [
      { value: { '-display': /^(?!:|localhost)/ }, high: 'Gives a shell to the network.' },
      { program: 'x11vnc vncserver', medium: wayIn },
    ],
  },
  { programs: 'gotty ttyd shellinaboxd tmate wetty sshx teleconsole upterm', high: 'Gives a shell to the network.' },
  {
    programs: 'php ruby busybox npx http-server serve darkhttpd miniserve simple-http-server caddy webfsd filebrowser python python3 twistd',
    test: servesMachine,
    high: 'Serves files of the machine to the network.',
  },
  { programs: 'pastebinit pastebin wgetpaste gist sprunge haste', high: 'Publishes what it is given.' },
  {
    programs: 'mail mailx mutt sendmail swaks msmtp s-nail',
    test: ({ args, input }) => input.file !== undefined || attached(args).length > 0,
    medium: 'Mails files away.',
    highWhen: { test: mailsValuable },
  },
  {
    programs:
      'nmap masscan zmap sqlmap nikto john hashcat rustscan fping netdiscover arp-scan dnsrecon theHarvester amass subfinder nuclei enum4linux smbmap snmpwalk ldapsearch rpcclient onesixtyone wpscan dirb dirbuster feroxbuster aircrack-ng tcpdump tshark gobuster ffuf wfuzz',
    medium: '{program} looks into or attacks other machines.',
  },
  {
    programs:
      'mimikatz evil-winrm hydra medusa msfconsole msfvenom unshadow crackmapexec netexec nxc ncrack patator arpspoof ettercap bettercap dsniff responder secretsdump.py psexec.py wmiexec.py GetNPUsers.py ntlmrelayx.py',
    high: '{program} is a tool of attackers.',
  },
  {
    programs:
      'xmrig minerd cpuminer ethminer cgminer bfgminer t-rex nbminer ccminer lolMiner gminer teamredminer phoenixminer srbminer nheqminer cpuminer-multi randomx nanominer',
    high: 'Uses the machine to mine a currency.',
  },
  { programs: 'ztcp', high: fromShell },
  { programs: 'zmodload', arg: /net\/(?:tcp|socket)/, high: fromShell },
  { programs: 'telnet', from: 'bash dash zsh sh', high: 'Connects a shell to the network.' },
];

function exchanges({ input, redirects }: Invocation): boolean {
  return input.from.length > 0 || input.file !== undefined || redirects.length > 0;
}

function forwardsBack({ args }: Invocation): boolean {
  return args.some((arg, index) => /^-[a-zA-Z]*R/.test(arg) && !/^-[iFo]$/.test(args[index - 1] ?? ''));
}

function servesMachine({ program, args }: Invocation, scope: Scope): boolean {
  const serves =
    /(?:^|\s)-S\s|httpd|http-server|\bserve\b|file-server|--port|http\.server/.test(` ${args.join(' ')}`) ||
    /^(?:darkhttpd|miniserve|http-server|serve|simple-http-server|webfsd|filebrowser)$/.test(program);
  return serves && args.some((arg) => /^(?:\/|~|\/(?:etc|home|root|var)\/?|~\/\.\w+)$/.test(scope.place(arg)) && /^[/~]|^\$HOME/.test(arg));
}

function attached(args: readonly string[]): readonly string[] {
  return args.filter((_, index) => /^(?:-a|-A|--attach)$/.test(args[index - 1] ?? ''));
}

function mailsValuable({ args }: Invocation, scope: Scope): boolean {
  return attached(args).some((path) => /\.(?:sql|db|sqlite3?|dump|tgz|tar\.gz|zip|kdbx|env)$/.test(path) || judgeRead(scope.place(path)) !== undefined);
}

function judgeFetch({ program, args }: Invocation, scope: Scope): void {
  judgeFetched(program, args, scope);
  for (const arg of args) {
    const found = /^[a-z]+:\/\/|^\d+\.\d+\.\d+\.\d+|^\[|^localhost|^metadata/.test(arg) ? judgeAddress(arg) : undefined;
    if (found !== undefined && found.risk === 'high') scope.high(found.reason);
  }
}

/** Judges the files that it writes, and remembers fetched ones, so that we notice when a later command runs one. */
function judgeFetched(program: string, args: readonly string[], scope: Scope): void {
  const { documents, beside } = filesFetched(program, args);
  for (const path of documents) {
    const place = scope.place(path);
    scope.downloaded.add(place);
    if (/^\/(?:etc|bin|sbin|usr\/(?!local|share\/keyrings)|lib|boot)/.test(place) && !/^\/etc\/(?:apt|yum\.repos\.d)/.test(place))
      scope.high(`Fetches a file into a place of the system: ${show(path)}`);
    else if (!/^\/usr\/share\/keyrings\//.test(place)) write(path, scope, 'Writes');
    else scope.medium(`Adds a key that packages may be signed with: ${show(path)}`);
  }
  for (const path of beside) write(path, scope, 'Writes');
}
