/** What writing to a place, or removing it, can break. */
import { unknownText } from './place.js';

type Judgement = { risk: 'high' | 'medium'; reason: string } | undefined;

interface Guarded {
  readonly path: RegExp;
  readonly risk: 'high' | 'medium';
  readonly reason: string;
}

/** Order matters: the first row that fits counts. `reason` completes "writes …". */
const written: readonly Guarded[] = [
  row(/^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|ptmx|full|u?random|fd\/.*|pts\/.*|shm\/.*)$/, undefined),
  row(/^\/dev\/(?:tcp|udp)\//, 'high', 'to a network connection of the shell'),
  row(/^\/dev\/(?:k?mem|port)$/, 'high', 'to the memory of the machine'),
  row(/^\/dev\//, 'high', 'to a device'),
  row(/^\/(?:proc|sys)\/(?!self\/(?:oom_score_adj|comm|fd\/))/, 'high', 'to a setting of the kernel'),
  row(/^\/(?:etc|usr|lib\w*|s?bin|var\/lib)\/\0/, 'high', 'to files of the system, one after the other'),
  row(/^(?:\/var\/(?:spool\/)?mail|\/var\/spool)\//, 'high', 'to what the system keeps for its users'),
  row(
    /^\/etc\/default\/(?:ufw|auditd|rsyslog|docker|locale)?/,
    'high',
    'to how services of the system start',
  ),
  row(/^\/boot(?:\/|$)|^\/efi(?:\/|$)/, 'high', 'to what the machine boots from'),
  row(
    /^\/etc\/(?:passwd|shadow|group|gshadow|sudoers|sudoers\.d|pam\.d|pam\.conf|security|doas\.conf|polkit-1)(?:-|\/|$)/,
    'high',
    'to the accounts and rights of the system',
  ),
  row(/^\/etc\/(?:ld\.so\.preload|ld\.so\.conf.*)$/, 'high', 'to what every program loads'),
  row(
    /^\/etc\/(?:cron[^/]*|anacrontab|at\.allow|init\.d|rc\d?\.d|rc\.local|systemd|profile|profile\.d|bash\.bashrc|bashrc|zsh.*|environment|xdg\/autostart|udev|modules|modules-load\.d|modprobe\.d|inittab|update-motd\.d|NetworkManager\/dispatcher\.d|apt\/apt\.conf\.d)(?:\/|$)/,
    'high',
    'to a place that is run later by itself',
  ),
  row(/^\/etc\/(?:ssh|ssl\/private|krb5\.conf)(?:\/|$)/, 'high', 'to the configuration of remote access'),
  row(
    /^\/etc\/(?:fstab|sysctl\.conf|sysctl\.d|default\/grub|grub\.d|crypttab|selinux)(?:\/|$)/,
    'high',
    'to what the machine boots with',
  ),
  row(
    /^\/etc\/(?:audit|audisp|libaudit|syslog-ng|rsyslog(?:\.d|\.conf)|syslog|apparmor(?:\.d)?|fail2ban|iptables|nftables\.conf|ufw|hosts\.(?:allow|deny)|shells|securetty|login\.defs|logrotate\.(?:d|conf)|pki|ca-certificates|docker\/daemon\.json|kubernetes|containerd|inetd\.conf|xinetd\.d|network\/(?:if-[\w-]+\.d|interfaces)|dhcp|X11\/(?:Xsession|xinit)|ppp\/ip-up\.d|gitconfig|npmrc|pip\.conf|pacman\.d\/hooks|dpkg\/dpkg\.cfg\.d|sudo\.conf|skel|motd|init|sv|s6|runit|supervisor|snmp|exports|samba|yum\/pluginconf\.d)(?:\/|\.|$)/,
    'high',
    'to what protects the system or is run by it',
  ),
  row(/^\/etc(?:\/|$)/, 'medium', 'to the configuration of the system'),
  row(/^\/var\/spool\/(?:cron|at)(?:\/|$)/, 'high', 'to a place that is run later by itself'),
  row(
    /^\/(?:usr\/)?lib\/systemd(?:\/|$)|^\/run\/systemd(?:\/|$)/,
    'high',
    'to a place that is run later by itself',
  ),
  row(
    /^\/var\/lib\/(?:mysql|mariadb|postgresql|pgsql|mongo\w*|redis|etcd|docker|containerd|kubelet|rancher|dpkg|rpm|pacman|systemd|cloud|libvirt|influxdb|elasticsearch|rabbitmq|ldap|samba|bind|AccountsService|polkit-1)(?:\/|$)/,
    'high',
    'to the data of a service of the system',
  ),
  row(/^\/var\/(?:lib|www|backups|opt)(?:\/|$)/, 'medium', 'to the data of a service'),
  row(/^\/var\/log(?:\/|$)/, 'high', 'to the logs of the system'),
  row(/^\/(?:usr\/local|opt)(?:\/|$)/, 'medium', 'to programs of the machine'),
  row(
    /^\/(?:usr\/)?(?:s?bin|lib(?:32|64|x32)?|libexec)(?:\/|$)|^\/usr(?:\/|$)/,
    'high',
    'to the programs of the system',
  ),
  row(/^(?:\/var)?\/run\/docker\.sock$/, 'high', 'to the control socket of the container engine'),
  row(/^\/(?:System|Library)(?:\/|$)/, 'high', 'to the operating system'),
  row(/^~\/\.ssh(?:\/(?!known_hosts$).*)?$/, 'high', 'to SSH keys and settings'),
  row(/(?:^|\/)authorized_keys2?$/, 'high', 'to the keys that may log in'),
  row(
    /^~\/(?:\.config\/systemd|\.config\/autostart|Library\/Launch(?:Agents|Daemons)|\.local\/share\/systemd|\.pam_environment|\.xprofile|\.xinitrc|\.xsession\w*|\.config\/fish\/conf\.d|\.kde\w*\/Autostart|\.config\/(?:plasma-workspace|upstart|openbox\/autostart|environment\.d)|\.local\/share\/(?:dbus-1|nautilus\/scripts)|\.forward|\.procmailrc|\.rhosts|\.oh-my-zsh\/custom|\.vim\/(?:plugin|autoload)|\.config\/nvim\/plugin|\.emacs\.d|\.gdbinit|\.lldbinit|\.Rprofile|\.irbrc|\.pdbrc|\.mailcap)(?:\/|$)/,
    'high',
    'to a place that is run later by itself',
  ),
  row(
    /^~\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|login|logout|kshrc|cshrc|tcshrc|emacs|config\/fish\/config\.fish|inputrc|vimrc|config\/nvim\/init\.(?:vim|lua)|pythonrc|pythonstartup)$/,
    'high',
    'to a file that shells and editors run at start',
  ),
  row(/^~\/\.\w*_history$/, 'high', 'to the history of a shell'),
  row(
    /^~\/(?:\.aws|\.kube|\.gnupg|\.docker|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.config\/gcloud)(?:\/|$)/,
    'high',
    'to stored credentials',
  ),
  row(/^~\/(?:\.gitconfig|\.config\/git\/config)$/, 'medium', 'to the settings of git for all repositories'),
  row(
    /^~\/(?:\.config\/pip\/pip\.conf|\.pip\/pip\.conf|\.condarc|\.cargo\/config(?:\.toml)?|\.yarnrc(?:\.yml)?|\.gemrc|\.tmux\.conf|\.screenrc|\.psqlrc|\.sqliterc|\.config\/Code\/User|\.wgetrc|\.curlrc)/,
    'medium',
    'to the settings of programs of the user',
  ),
  row(/(?:^|\/)\.git\/hooks\/(?!.*\.sample$)/, 'medium', 'to what git runs by itself'),
  row(/(?:^|\/)\.git\/(?:config|info\/attributes)$/, 'medium', 'to settings from which git runs programs'),
  row(
    /^~\/\.local\/bin\/(?:sudo|su|ssh|git|ls|cat|python3?|node|npm|bash|sh)$/,
    'high',
    'a program that takes the place of a common one',
  ),
  row(
    /\/(?:site|dist)-packages\/[^/]+\.pth$|\/(?:site|user)customize\.py$/,
    'high',
    'to what every start of Python runs',
  ),
  row(/^\/(?:root|home|Users)$/, 'high', 'to the homes of all users'),
  row(/^\/[^/]+$/, 'medium', 'to the top of the file system'),
];

export function judgeWrite(path: string): Judgement {
  for (const guarded of written) {
    if (!guarded.path.test(path)) continue;
    return guarded.reason === ''
      ? undefined
      : { risk: guarded.risk, reason: `Writes ${guarded.reason}: ${show(path)}` };
  }
  return undefined;
}

const systemTop =
  /^\/(?:bin|boot|dev|efi|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library|Applications|Volumes|data|nix)$/;
const disposable =
  /^(?:\/tmp|\/var\/tmp|\/dev\/shm|\/private\/tmp|\/var\/cache|\/var\/lib\/apt\/lists|\/usr\/share\/(?:doc|man|locale)|\/var\/lib\/docker\/tmp|~\/\.cache|~\/\.npm|~\/\.local\/share\/Trash|~\/\.cargo\/registry|~\/\.gradle\/caches|~\/\.m2\/repository|~\/Library\/Caches|~\/\.pnpm-store|~\/\.nvm\/\.cache)\/.+/;
const valuableAtHome =
  /^~\/(?:\.ssh|\.gnupg|\.aws|\.kube|\.config|\.local|\.docker|Documents|Desktop|Pictures|Downloads|Music|Videos|Library|\.password-store|\.mozilla|\.bashrc|\.profile|\.zshrc|\.gitconfig)\/?\*?$/;

/** At the top of a workspace. */
const work =
  /^\.\/(?:src|source|sources|lib|app|apps|packages|tests?|spec|docs|include|cmd|internal|pkg|server|client|frontend|backend|components|pages|public|assets|migrations|scripts|data)$/;

/** What removing this place, with all below it when `recursive`, destroys. */
export function judgeRemoval(path: string, recursive: boolean): Judgement {
  const whole = withoutContents(path) || '/';
  const contents = whole !== path;
  if (/^\/[\w-]+\/\0$/.test(path) && systemTop.test(path.slice(0, -2)))
    return destroys('files of the system', path);
  const many = recursive || contents;
  if (/^\/\0/.test(path)) return destroys('files all over the system', path);
  if (whole === '/' || /^\/[*?\0.[]*$/.test(path)) return destroys('the whole file system', path);
  // A pattern at the top of the file system takes directories of the system with it.
  if (/^\/(?!tmp)[\w.-]*[*?[][^/]*$/.test(path) && recursive)
    return destroys('directories of the system', path);
  if (path.startsWith('/dev/shm') || disposable.test(path)) return undefined;
  if (systemTop.test(whole)) return many ? destroys('a directory of the system', path) : undefined;
  if (/^\/(?:tmp|var\/tmp|private\/tmp)$/.test(whole))
    return many ? worry('everything in a shared directory', path) : undefined;
  if (whole === '~' || /^~\/(?:[*?]+|\0)$/.test(path))
    return many ? destroys('a home directory', path) : undefined;
  if (valuableAtHome.test(path)) return destroys('what a user keeps at home', path);
  if (/^~\/\.\w*_history$/.test(path)) return destroys('the history of a shell', path);
  if (/^\/var\/log\/.*(?:\.gz|\.\d+|\.old)$/.test(path)) return worry('old logs of the system', path);
  if (whole === '/usr/local' && many) return destroys('a directory of the system', path);
  if (/^\/(?:usr\/local|opt)(?:\/|$)/.test(path)) return worry('programs of the machine', path);
  if (/^\/(?:etc|usr|boot|bin|sbin|lib\w*|var|proc|sys|dev|System|Library)\//.test(path))
    return destroys('files of the system', path);
  if (/^(?:\.\.\/?)+$/.test(`${whole}/`))
    return many ? destroys('what lies above the working directory', path) : undefined;
  if (whole === '.' || path === './*' || path === '*')
    return many ? destroys('everything in the working directory', path) : undefined;
  if (whole.startsWith('../')) return many ? worry('files outside the working directory', path) : undefined;
  if (work.test(whole))
    return recursive ? worry('a directory in which work is usually kept', path) : undefined;
  if (/^\.\/(?:.*\/)?\.git$/.test(whole))
    return many ? worry('the history of a repository', path) : undefined;
  if (path.startsWith(unknownText))
    return many ? worry('a place that is not known before it runs', path) : undefined;
  if (/^~\/[^/]+$/.test(whole)) return many ? worry('a directory at home', path) : undefined;
  if (
    many &&
    (/^\/(?:srv|data|mnt|media|Volumes|backups?|storage|exports?)\/[^/]+$/.test(whole) ||
      /^(?:\/|~).*(?:^|[/_-])(?:backups?|snapshots?|prod|production|database)(?:[/_-]|$)/.test(whole))
  )
    return destroys('data of the machine', path);
  if (/^\/(?:srv|data|mnt|media|Volumes|Applications|home)\//.test(whole))
    return many ? worry('data of the machine', path) : undefined;
  if (/^\/[^/]+$/.test(whole))
    return many ? worry('a directory at the top of the file system', path) : undefined;
  return undefined;
}

/** A path for a person to read. */
export function show(path: string): string {
  return path.replaceAll(unknownText, '…');
}

function destroys(what: string, path: string): Judgement {
  return { risk: 'high', reason: `Removes ${what}: ${show(path)}` };
}

function worry(what: string, path: string): Judgement {
  return { risk: 'medium', reason: `Removes ${what}: ${show(path)}` };
}

function row(path: RegExp, risk: 'high' | 'medium' | undefined, reason = ''): Guarded {
  return { path, risk: risk ?? 'medium', reason };
}

/** Globs that stand for all that a directory holds. */
const contents = ['/*', '/**', '/.*', '/.??*'];

/** Without such globs at its end. What begins with `.[` or `{` reaches to the end, slashes included. */
function withoutContents(path: string): string {
  const open = path.search(/\/(?:\.\[|\{)/);
  let whole = open === -1 ? path : path.slice(0, open);
  for (;;) {
    const last = contents.find((glob) => whole.endsWith(glob));
    if (last === undefined) return whole;
    whole = whole.slice(0, -last.length);
  }
}
