/** Package managers, whose packages bring scripts that run at once. */
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { isFetcher } from '../../shell/sources.js';
import { operands, optionValue } from '../arguments.js';
import type { Rule } from '../rule.js';

const address = /^(?:git\+|https?:|git:|ssh:|git@|github:|gitlab:|bitbucket:|file:)|\.(?:tgz|tar\.gz|whl|zip)$|^[\w.-]+\/[\w.-]+(?:#.*)?$/;
const trusted = new Set(['pip', 'setuptools', 'wheel', 'npm', 'virtualenv']);

/** Settings that change where packages come from, or what runs with them. */
const redirecting = /^config set .*(?:registry|index-url|find-links|trusted-host|proxy|script-shell|shell|node-options|git\b|cafile|strict-ssl)/i;

/** What projects have among their own dependencies, and npx then starts from there. */
const workTools =
  /^(?:@(?:biomejs|playwright|angular|vue|storybook|changesets|openapitools|redocly|arethetypeswrong|tailwindcss)\/[\w-]+|tsc|tsx|ts-node|vitest|jest|mocha|ava|c8|nyc|eslint|prettier|biome|stylelint|vite|webpack|rollup|esbuild|tsup|turbo|nx|lerna|next|nuxt|astro|playwright|cypress|storybook|prisma|drizzle-kit|knex|typeorm|sequelize|husky|lint-staged|commitlint|changeset|knip|madge|depcheck|size-limit|serve|http-server|nodemon|concurrently|rimraf|cross-env|tailwindcss|postcss|sass|svelte-check|vue-tsc|ng|expo|react-native|wrangler|typedoc|api-extractor|markdownlint|cspell|semantic-release|npm-check-updates|ncu|publint|attw|oxlint|ruff|black|mypy|pytest|pre-commit|isort|flake8|tox|nox)(?:@[\w.^~-]+)?$/;
const vital =
  /^(?:libc6?|glibc|musl|systemd|linux-(?:image|headers).*|kernel.*|coreutils|bash|dpkg|apt|sudo|openssh-server|init|python3|network-manager|iproute2|util-linux|grub.*|auditd|apparmor|fail2ban|clamav.*|ufw|firewalld|rsyslog|selinux.*|falcon-sensor|crowdsec|aide|ca-certificates|mdatp|osquery|wazuh-agent)$/;

const node = 'npm pnpm yarn bun';
const python = 'pip pip3 pip2 uv easy_install conda mamba micromamba pdm rye';
const system = 'apt apt-get dnf yum apk pacman zypper dpkg rpm snap flatpak';
const elsewhere = 'Installs packages from another place than usual.';
const redirected = 'Makes every later installation use another place or program.';
const runsScripts = 'Installs packages, which may run scripts.';
const otherMakers = 'Trusts packages of somebody else from now on.';
const fetched = 'Fetches a package and runs it.';
const unchecked = 'Installs packages without checking who made them.';
const removed = { medium: 'Removes packages of the machine.' };

export const packages: readonly Rule[] = [
  { programs: 'apt-key', verb: 'add adv', medium: otherMakers, highWhen: { test: ({ input }) => input.from.some(({ program }) => isFetcher(program)) } },
  { programs: 'add-apt-repository', medium: otherMakers },
  { programs: 'gdebi', medium: 'Installs packages of the machine.' },
  {
    programs: node,
    unless: { arg: '--dry-run' },
    cases: [
      { verb: 'unpublish', high: 'Takes a package away from all who use it.' },
      { verb: 'publish deprecate owner token adduser login access', medium: 'Publishes, or changes who may publish.' },
    ],
  },
  { programs: node, words: redirecting, high: redirected },
  { programs: node, verb: 'i install add ci exec x', arg: '--registry*', medium: elsewhere },
  { programs: node, verb: 'i install add in dlx create exec x', judge: judgeNodeInstall },
  { programs: 'npx bunx pnpx uvx', test: fetchesTool, medium: fetched },
  { programs: 'pipx', words: /^(?:run|install) (?![./])\S/, test: fetchesTool, medium: fetched },
  { programs: 'npx bunx pnpx uvx pipx', arg: '-y --yes', medium: fetched },
  { programs: 'npx bunx pnpx uvx pipx', arg: /^(?:git\+|https?:|github:)/, medium: 'Fetches a package from an address and runs it.' },
  { programs: python, words: redirecting, high: redirected },
  {
    programs: `${python} python python3 python2`,
    unless: { test: ({ program, args }) => /^python/.test(program) && !runsModule(args, /^pip$/) },
    judge: judgePythonInstall,
  },
  {
    programs: 'python python3 python2',
    test: ({ args }, scope) =>
      runsModule(args, /^(?:http\.server|SimpleHTTPServer|pyftpdlib)$/) && /^[/~]/.test(scope.place(optionValue(args, '-d', '--directory') ?? '.')),
    high: 'Serves files of the machine to the network.',
  },
  {
    programs: 'gem cargo go brew composer cpan cpanm luarocks opam poetry',
    cases: [
      { verb: 'publish push yank', unless: { arg: '--dry-run' }, medium: 'Publishes a package.' },
      {
        verb: 'install add require get tap',
        unless: { arg: '--path' },
        test: ({ args }) =>
          operands(args)
            .slice(1)
            .some((name) => !name.startsWith('.')),
        medium: runsScripts,
      },
    ],
  },
  { programs: system, arg: /Pre-Invoke|APT::Update::Pre|Dpkg::Pre/i, high: 'Starts a program through an option of the package manager.' },
  { programs: system, test: removesPackages, cases: [{ arg: vital, high: 'Removes a package that the system needs.' }, removed] },
  {
    programs: system,
    unless: { test: removesPackages },
    cases: [
      { verb: 'install add upgrade dist-upgrade full-upgrade reinstall', medium: 'Installs packages of the machine.' },
      { program: 'pacman rpm dpkg', arg: /^-(?:S|U|i)[a-z]*$/, medium: 'Installs packages of the machine.' },
    ],
  },
  { programs: system, arg: '--allow-unauthenticated --nogpgcheck --force-yes --allow-untrusted --no-gpg-checks --nosignature', high: unchecked },
  { programs: system, arg: /AllowInsecureRepositories=true|AllowUnauthenticated=true|Verify-Peer=false/i, high: unchecked },
  { programs: 'twine', verb: 'upload', medium: 'Publishes a package.' },
  {
    programs:
      'npm pnpm yarn bun npx bunx pnpx pip pip3 pip2 uv uvx pipx easy_install conda mamba micromamba gem cargo go brew composer cpan cpanm luarocks poetry apt apt-get dnf yum apk pacman zypper dpkg rpm rpmkeys snap flatpak apt-key add-apt-repository yum-config-manager helm opam nix-env nix vsce code gdebi dart flutter mix',
    test: adds,
    judge: judgeForeign,
  },
];

function judgeNodeInstall({ args }: Invocation, scope: Scope): void {
  const [verb = '', ...rest] = args.filter((arg) => !arg.startsWith('-'));
  if (verb === 'exec' && args.includes('--')) return;
  const names = rest.filter((name) => !trusted.has(name) && !/^[./~]/.test(name));
  const foreign = names.find((name) => address.test(name) && !name.startsWith('@'));
  if (foreign !== undefined) scope.medium(`Installs a package from an address: ${foreign}`);
  else if (names.length > 0 && verb !== 'exec' && verb !== 'x') scope.medium(runsScripts);
}

function fetchesTool({ program, args }: Invocation): boolean {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const name = words[program === 'pipx' ? 1 : 0] ?? '';
  return name !== '' && !/^[./]/.test(name) && !workTools.test(name);
}

function runsModule(args: readonly string[], module: RegExp): boolean {
  const at = args.indexOf('-m');
  return at !== -1 && module.test(args[at + 1] ?? '');
}

const valuedByPip = /^-(?:r|c|e|t|i|n|p)$|^--(?:requirement|constraint|target|index-url|extra-index-url|python|prefix|group|extra|name|channel)$/;

function judgePythonInstall({ program, args: given }: Invocation, scope: Scope): void {
  const args = /^python/.test(program) ? given.slice(given.indexOf('-m') + 2) : given;
  const words = args.filter((arg) => !arg.startsWith('-'));
  const at = words.findIndex((word) => word === 'install' || word === 'add');
  if (program !== 'easy_install' && at === -1) return;
  if (args.some((arg) => /^--(?:extra-)?index-url|^-i$|^--find-links|^--trusted-host/.test(arg))) scope.medium(elsewhere);
  const skip = new Set(args.flatMap((arg, index) => (valuedByPip.test(arg) ? [args[index + 1]] : [])));
  const edited = args.flatMap((arg, index) => (arg === '-e' || arg === '--editable' || arg === '-r' ? [args[index + 1] ?? ''] : []));
  const names = words.slice(at + 1).filter((name) => !skip.has(name) && !trusted.has(name) && !/^[./~]/.test(name));
  const foreign = [...names, ...edited].find((name) => /^(?:git\+|https?:|ftp:|svn\+|hg\+)/.test(name));
  if (foreign !== undefined) scope.medium(`Installs a package from an address: ${foreign}`);
  else if (names.length > 0) scope.medium(runsScripts);
}

function removesPackages({ program, args }: Invocation): boolean {
  const verb = args.find((arg) => !arg.startsWith('-')) ?? '';
  return (
    /^(?:remove|purge|autoremove|erase|del)$/.test(verb) ||
    args.some((arg) => /^-R|^--(?:purge|remove|erase)$/.test(arg)) ||
    (/^(?:dpkg|rpm)$/.test(program) && args.some((arg) => /^-[rPe]$/.test(arg)))
  );
}

/** The usual places for packages; anything else can belong to anybody. */
const knownHosts =
  /^(?:[\w-]+\+)?(?:https|ssh):\/\/(?:[^/@]+@)?(?:[\w-]+\.)*(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|pypi\.org|pythonhosted\.org|npmjs\.org|npmjs\.com|yarnpkg\.com|npmmirror\.com|pytorch\.org|nvidia\.com|googleapis\.com|google\.com|jsdelivr\.net|unpkg\.com|docker\.com|nodesource\.com|postgresql\.org|hashicorp\.com|microsoft\.com|debian\.org|ubuntu\.com|fedoraproject\.org|rubygems\.org|crates\.io|anaconda\.(?:org|com)|apache\.org|codeberg\.org|huggingface\.co|python\.org|jfrog\.io|azure\.com|amazonaws\.com|pkg\.dev|kernel\.org|gnu\.org)(?:[:/]|$)/i;
const adding =
  /^(?:i|in|install|add|ci|dlx|exec|x|localinstall|reinstall|upgrade|update|get|tap|require|-[iU]\w*|--install|--upgrade|run|create|adv|download|plugin|globals?|--fetch-keys|swupd|sideload)$/;
const alwaysAdding = /^(?:npx|bunx|pnpx|uvx|easy_install|cpanm?|apt-key|add-apt-repository|rpm|rpmkeys|dnf|yum-config-manager)$/;

function adds({ program, args }: Invocation): boolean {
  return alwaysAdding.test(program) || args.some((arg) => adding.test(arg));
}

/** An address of code that nobody vouches for: unencrypted, a bare number, or not a usual place. */
function isForeign(text: string): boolean {
  const url = /^(?:[\w-]+\+)?(?:https?|ftp|git|ssh):\/\/\S+/.exec(text)?.[0];
  if (url === undefined || /:\/\/(?:localhost|127\.|\[::1\])/.test(url)) return false;
  if (/^(?:[\w-]+\+)?(?:http|ftp|git):\/\//.test(url)) return true;
  return !knownHosts.test(url) && (/:\/\/\d+\.\d+\.\d+\.\d+/.test(url) || /\.(?:tgz|tar\.gz|whl|zip|deb|rpm|gem|apk|jar|git)(?:$|[#?@])/.test(url));
}

/** Where packages come from, whatever installs them. */
function judgeForeign({ args, behind }: Invocation, scope: Scope): void {
  if (behind.some(({ from }) => from.some((producer) => isFetcher(producer.program)))) scope.high('Installs a package that was fetched from the network.');
  const found = args.map((arg) => arg.replace(/^--?[\w-]+=/, '').replace(/^\w[\w.-]*\s*@\s*/, '')).find(isForeign);
  if (found !== undefined) scope.high(`Installs code from a place nobody vouches for: ${found}`);
  for (const arg of args)
    if (scope.downloaded.has(scope.place(arg)) && /\.(?:deb|rpm|tgz|tar\.gz|whl|apk|zip|gem|jar|snap|pkg|flatpak)$/.test(arg))
      scope.high(`Installs a package that was fetched from the network: ${arg}`);
}
