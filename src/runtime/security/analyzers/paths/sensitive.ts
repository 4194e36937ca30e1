/** Places whose content opens access to something: ask before reading one. */
import type { Risk } from '../analyzer.js';
import { globMatches, hasWildcard } from './glob.js';

interface Sensitive {
  /** Over a path as `place` spells it. */
  readonly path: RegExp;
  readonly risk: Exclude<Risk, 'low' | 'unknown'>;
  readonly what: string;
  /** Real paths of that kind, to try wildcards against. */
  readonly examples?: readonly string[];
}

const table: readonly Sensitive[] = [
  {
    path: /^\/etc\/(?:g?shadow-?|sudoers(?:\.d)?|security\/opasswd|krb5\.keytab|ssl\/private)(?:\/|$)/,
    risk: 'high',
    what: 'password hashes or keys of the system',
    examples: ['/etc/shadow', '/etc/gshadow', '/etc/sudoers'],
  },
  {
    path: /\/etc\/ssh\/ssh_host_\w+_key$/,
    risk: 'high',
    what: 'a host key',
    examples: ['/etc/ssh/ssh_host_rsa_key'],
  },
  { path: /^\/etc\/passwd-?$/, risk: 'medium', what: 'the list of accounts', examples: ['/etc/passwd'] },
  {
    path: /^~\/\.ssh(?:\/(?!(?:known_hosts(?:\.old)?|config\.example|[^/]*\.pub|authorized_keys2?|config(?:\.d)?|environment)(?:\/|$)).*)?$/,
    risk: 'high',
    what: 'SSH keys',
    examples: ['~/.ssh/id_rsa', '~/.ssh/id_ed25519'],
  },
  { path: /^~\/\.ssh\/(?:config|authorized_keys2?)$/, risk: 'medium', what: 'the SSH configuration' },
  { path: /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/, risk: 'high', what: 'an SSH private key' },
  {
    path: /^~\/\.aws(?:\/(?:credentials|config|cli\/cache.*|sso\/cache.*))?$/,
    risk: 'high',
    what: 'AWS credentials',
    examples: ['~/.aws/credentials'],
  },
  {
    path: /^~\/(?:\.config\/gcloud|\.azure|\.oci|\.config\/doctl|\.config\/hcloud|\.terraform\.d\/credentials|\.vault-token|\.boto|\.s3cfg|\.fly\/config|\.config\/op|\.config\/rclone|\.rclone\.conf|\.config\/ngrok|\.config\/hub|\.config\/gh\/hosts|\.config\/github-copilot|\.config\/heroku|\.cargo\/credentials|\.gem\/credentials|\.composer\/auth|\.m2\/settings-security|\.codex\/auth|\.claude\/\.credentials|\.config\/sops)/,
    risk: 'high',
    what: 'credentials of a service',
    examples: ['~/.config/gcloud/credentials.db', '~/.vault-token'],
  },
  {
    path: /^~\/(?:\.netrc|_netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.pypirc|\.npmrc|\.yarnrc\.yml|\.docker\/config\.json|\.config\/git\/credentials|\.databrickscfg|\.snowsql\/config)$/,
    risk: 'high',
    what: 'stored passwords or tokens',
    examples: ['~/.netrc', '~/.git-credentials', '~/.npmrc', '~/.pgpass', '~/.docker/config.json'],
  },
  {
    path: /(?:^|\/)\.(?:git-credentials|netrc|pgpass)$/,
    risk: 'high',
    what: 'stored passwords or tokens',
  },
  {
    path: /(?:^|\/)\.(?:kube)(?:\/config.*)?$|^\/etc\/(?:kubernetes\/(?:.*\.conf|pki)|rancher\/k3s\/k3s\.yaml)|^\/(?:var\/)?run\/secrets(?:\/|$)/,
    risk: 'high',
    what: 'credentials of a cluster',
    examples: ['~/.kube/config', '/var/run/secrets/kubernetes.io/serviceaccount/token'],
  },
  {
    path: /^~\/(?:\.gnupg|\.password-store|\.local\/share\/(?:keyrings|kwalletd)|Library\/Keychains|\.config\/(?:keepassxc|Bitwarden)|\.1password)(?:\/|$)/,
    risk: 'high',
    what: 'keys or passwords',
    examples: ['~/.gnupg/secring.gpg', '~/.local/share/keyrings/login.keyring'],
  },
  {
    path: /^~\/(?:\.mozilla|\.config\/(?:google-chrome|chromium|BraveSoftware|microsoft-edge|opera)|snap\/firefox|Library\/(?:Application Support\/(?:Google\/Chrome|Firefox|BraveSoftware|Microsoft Edge)|Cookies|Safari)|\.thunderbird|AppData\/Local\/Google\/Chrome)(?:\/|$)/,
    risk: 'high',
    what: 'the profile of a browser',
    examples: ['~/.mozilla/firefox/x.default/logins.json', '~/.config/google-chrome/Default/Cookies'],
  },
  {
    path: /(?:^|\/)(?:wallet\.dat|logins\.json|key[34]\.db|[^/]+\.kdbx)$|^~\/\.(?:bitcoin|ethereum|electrum|monero|config\/solana|exodus)(?:\/|$)/,
    risk: 'high',
    what: 'a wallet or password database',
    examples: ['~/.bitcoin/wallet.dat'],
  },
  {
    path: /^~\/(?:\.terraformrc|\.config\/containers\/auth\.json|\.(?:cache\/)?huggingface\/token|\.kaggle\/kaggle\.json|\.m2\/settings\.xml|\.gradle\/gradle\.properties|\.(?:sbt|ivy2)\/\.credentials|\.subversion\/auth|\.smbcredentials|\.davfs2\/secrets|\.rhosts|\.Xauthority|\.vnc\/passwd|\.config\/filezilla|\.filezilla|\.purple|\.msmtprc|\.fetchmailrc|\.authinfo(?:\.gpg)?|\.config\/(?:Slack|discord|Signal|Element|teams|zoom)|\.dbeaver|\.wireguard|\.putty|\.local\/share\/(?:DBeaverData|fish\/fish_history)|\.config\/(?:openai|anthropic)|\.openai|\.anthropic|\.gemini|\.kiro|\.cursor\/auth)(?:\/|$)/,
    risk: 'high',
    what: 'credentials of a service',
  },
  {
    path: /^\/(?:etc\/(?:ppp\/(?:chap|pap)-secrets|wpa_supplicant|NetworkManager\/system-connections|wireguard|openvpn|ipsec\.secrets|swanctl\/private|letsencrypt\/(?:live|archive|accounts)|mysql\/debian\.cnf|rndc\.key|docker\/key\.json|samba\/(?:private|smbpasswd)|vault\.d|exim4\/passwd\.client|cups\/ssl|NetworkManager\/conf\.d|pki\/tls\/private)|var\/lib\/(?:samba\/private|jenkins\/(?:secrets|credentials\.xml)|sss\/(?:db|secrets)|vault|kubelet\/pki|docker\/swarm|pgadmin)|var\/backups\/(?:shadow|gshadow|passwd)|dev\/input)(?:[/.]|$)/,
    risk: 'high',
    what: 'keys or passwords of the system',
    examples: ['/etc/letsencrypt/live/x/privkey.pem', '/etc/wireguard/wg0.conf'],
  },
  {
    path: /(?:^|\/)g?shadow(?:\.bak|\.old|~|-)?$|^[~/](?:.*\/)?(?:Login Data|Cookies|Web Data|cookies\.sqlite|signons\.sqlite)$/,
    risk: 'high',
    what: 'password hashes or stored passwords',
  },
  {
    path: /^\/.*\/\.(?:gnupg|ssh|aws|kube|azure|docker|password-store|mozilla)(?:\/|$)|\/\0\/(?:id_[*\w]+|\.(?:ssh|aws|gnupg|kube|netrc|pgpass|npmrc|git-credentials))$/,
    risk: 'high',
    what: 'keys or passwords of users',
  },
  {
    path: /^(?!~\/\.(?:cache|npm|cargo|nvm|local\/lib|vscode|rustup|gradle\/caches|m2\/repository)\/)~\/(?:\.[^/]+\/)(?:.*\/)?[^/]*(?:credential|token|secret|passw|api[-_]?key|auth\.json|private[-_]?key|session_?key)[^/]*$/i,
    risk: 'high',
    what: 'credentials of a service',
  },
  {
    path: /^(?:\/|~)(?!usr\/(?:share|lib)|etc\/ssl\/certs|etc\/pki\/ca|etc\/apt|tmp\/|var\/tmp\/|app\/)(?:.*\/)?[^/]*(?:\.(?:key|p12|pfx|jks|kdbx|keytab|ppk|ovpn)|privkey\d*\.pem|private[\w-]*\.pem)$/,
    risk: 'high',
    what: 'a private key',
  },
  {
    path: /^(?:~|\/(?:root|home|srv|opt|var\/www))(?:\/.*)?\/(?:\.env(?:\.(?!example$|sample$|template$|dist$)[\w.-]+)?|wp-config\.php|settings_secret\.py|\.htpasswd)$/,
    risk: 'high',
    what: 'a file of secret variables',
  },
  {
    path: /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|maps)$|^\/proc\/kcore$|^\/dev\/k?mem$/,
    risk: 'high',
    what: 'the memory or variables of processes',
    examples: ['/proc/1/environ'],
  },
  {
    path: /^~\/\.\w*_history$/,
    risk: 'medium',
    what: 'the history of a shell',
    examples: ['~/.bash_history'],
  },
  {
    path: /(?:^|\/)\*?\.env(?:\.(?!example$|sample$|template$|dist$|test$|defaults$)[\w.-]+)?$/,
    risk: 'medium',
    what: 'a file of secret variables',
  },
  {
    path: /(?:^|\/)(?:[\w.-]*(?:private|secret)[\w.-]*\.(?:pem|key)|service[-_]?account[\w.-]*\.json|credentials\.json|secrets\.ya?ml)$/i,
    risk: 'medium',
    what: 'a file that looks like a key',
  },
];

/** What reading this place means, or nothing for an ordinary file. */
export function judgeRead(path: string): { risk: 'high' | 'medium'; what: string } | undefined {
  for (const row of table) if (row.path.test(path)) return row;
  if (!hasWildcard(path) || /^[*?[\0]+$/.test(path)) return undefined;
  return tryExamples(path);
}

function tryExamples(path: string): { risk: 'high' | 'medium'; what: string } | undefined {
  // A wildcard that matches everything below the root or a home does not tell its target.
  if (/^[^*?[\0]*\/[*\0]$/.test(path) && !/^(?:~\/\.|\/etc\/s)/.test(path)) return undefined;
  if (!/^[/~]/.test(path)) return undefined;
  return table.find((row) => row.examples?.some((example) => globMatches(path, example)));
}
