/** Package managers, whose packages bring scripts that run at once. */
import { isFetcher } from '../shell/sources.js';
import { type Checks, each, operands } from './check.js';

const address =
  /^(?:git\+|https?:|git:|ssh:|git@|github:|gitlab:|bitbucket:|file:)|\.(?:tgz|tar\.gz|whl|zip)$|^[\w.-]+\/[\w.-]+(?:#.*)?$/;
const trusted = new Set(['pip', 'setuptools', 'wheel', 'npm', 'virtualenv']);

/** Settings that change where packages come from, or what runs with them. */
const redirecting =
  /registry|index-url|find-links|trusted-host|proxy|script-shell|shell|node-options|git\b|cafile|strict-ssl/i;

/** What projects have among their own dependencies, and npx then starts from there. */
const workTools =
  /^(?:@(?:biomejs|playwright|angular|vue|storybook|changesets|openapitools|redocly|arethetypeswrong|tailwindcss)\/[\w-]+|tsc|tsx|ts-node|vitest|jest|mocha|ava|c8|nyc|eslint|prettier|biome|stylelint|vite|webpack|rollup|esbuild|tsup|turbo|nx|lerna|next|nuxt|astro|playwright|cypress|storybook|prisma|drizzle-kit|knex|typeorm|sequelize|husky|lint-staged|commitlint|changeset|knip|madge|depcheck|size-limit|serve|http-server|nodemon|concurrently|rimraf|cross-env|tailwindcss|postcss|sass|svelte-check|vue-tsc|ng|expo|react-native|wrangler|typedoc|api-extractor|markdownlint|cspell|semantic-release|npm-check-updates|ncu|publint|attw|oxlint|ruff|black|mypy|pytest|pre-commit|isort|flake8|tox|nox)(?:@[\w.^~-]+)?$/;

export const packages: Checks = {
  'apt-key': ({ args, input }, scope) => {
    if (/^(?:add|adv)$/.test(args.find((arg) => !arg.startsWith('-')) ?? ''))
      scope.findings.add(
        input.from.some(({ program }) => isFetcher(program)) ? 'high' : 'medium',
        'Trusts packages of somebody else from now on.',
      );
  },
  'add-apt-repository': (_, scope) => scope.medium('Trusts packages of somebody else from now on.'),
  gdebi: (_, scope) => scope.medium('Installs packages of the machine.'),
  ...each('npm pnpm yarn bun', ({ args }, scope) => {
    const [verb = '', ...rest] = args.filter((arg) => !arg.startsWith('-'));
    if (/^(?:publish|unpublish|deprecate|owner|token|adduser|login|access)$/.test(verb)) {
      if (args.includes('--dry-run')) return;
      if (verb === 'unpublish') scope.high('Takes a package away from all who use it.');
      else scope.medium('Publishes, or changes who may publish.');
    }
    if (verb === 'config' && rest[0] === 'set' && redirecting.test(rest.slice(1).join(' ')))
      scope.high('Makes every later installation use another place or program.');
    if (args.some((arg) => /^--registry=?/.test(arg)) && /^(?:i|install|add|ci|exec|x)$/.test(verb))
      scope.medium('Installs packages from another place than usual.');
    if (!/^(?:i|install|add|in|dlx|create|exec|x)$/.test(verb)) return;
    const names = rest.filter((name) => !trusted.has(name) && !/^[./~]/.test(name));
    if (verb === 'exec' && args.includes('--')) return;
    const foreign = names.find((name) => address.test(name) && !name.startsWith('@'));
    if (foreign !== undefined) scope.medium(`Installs a package from an address: ${foreign}`);
    else if (names.length > 0 && !(verb === 'exec' || verb === 'x'))
      scope.medium('Installs packages, which may run scripts.');
  }),
  ...each('npx bunx pnpx uvx pipx', ({ program, args }, scope) => {
    const words = args.filter((arg) => !arg.startsWith('-'));
    const [name = ''] = program === 'pipx' ? words.slice(1) : words;
    const fetches = program !== 'pipx' || /^(?:run|install)$/.test(words[0] ?? '');
    if (fetches && name !== '' && !/^[./]/.test(name) && !workTools.test(name))
      scope.medium('Fetches a package and runs it.');
    else if (args.some((arg) => /^(?:-y|--yes)$/.test(arg))) scope.medium('Fetches a package and runs it.');
    if (args.some((arg) => /^(?:git\+|https?:|github:)/.test(arg)))
      scope.medium('Fetches a package from an address and runs it.');
  }),
  ...each('pip pip3 pip2 uv easy_install conda mamba micromamba pdm rye', ({ program, args }, scope) =>
    installPython(program, args, scope),
  ),
  ...each('python python3 python2', ({ program, args }, scope) => {
    const at = args.indexOf('-m');
    if (at !== -1 && args[at + 1] === 'pip') installPython(program, args.slice(at + 2), scope);
    if (at !== -1 && /^(?:http\.server|SimpleHTTPServer|pyftpdlib)$/.test(args[at + 1] ?? '')) {
      if (/^(?:\/|~)/.test(scope.place(valueAfter(args, '-d', '--directory') ?? '.')))
        scope.high('Serves files of the machine to the network.');
    }
  }),
  ...each('gem cargo go brew composer cpan cpanm luarocks opam poetry', ({ args }, scope) => {
    const verb = args.find((arg) => !arg.startsWith('-')) ?? '';
    const named = operands(args).slice(1).length > 0;
    if (/^(?:publish|push|yank)$/.test(verb) && !args.includes('--dry-run'))
      scope.medium('Publishes a package.');
    if (
      /^(?:install|add|require|get|tap)$/.test(verb) &&
      named &&
      !args.includes('--path') &&
      !operands(args)
        .slice(1)
        .every((name) => name.startsWith('.'))
    )
      scope.medium('Installs packages, which may run scripts.');
  }),
  ...each('apt apt-get dnf yum apk pacman zypper dpkg rpm snap flatpak', ({ program, args }, scope) => {
    const verb = args.find((arg) => !arg.startsWith('-')) ?? '';
    if (args.some((arg) => /Pre-Invoke|APT::Update::Pre|Dpkg::Pre/i.test(arg)))
      scope.high('Starts a program through an option of the package manager.');
    if (
      /^(?:remove|purge|autoremove|erase|del)$/.test(verb) ||
      args.some(
        (arg) =>
          /^-R/.test(arg) ||
          /^--(?:purge|remove|erase)$/.test(arg) ||
          (/^-[rPe]$/.test(arg) && /^(?:dpkg|rpm)$/.test(program)),
      )
    ) {
      const vital = args.some((arg) =>
        /^(?:libc6?|glibc|musl|systemd|linux-(?:image|headers).*|kernel.*|coreutils|bash|dpkg|apt|sudo|openssh-server|init|python3|network-manager|iproute2|util-linux|grub.*|auditd|apparmor|fail2ban|clamav.*|ufw|firewalld|rsyslog|selinux.*|falcon-sensor|crowdsec|aide|ca-certificates|mdatp|osquery|wazuh-agent)$/.test(
          arg,
        ),
      );
      if (vital) scope.high('Removes a package that the system needs.');
      else scope.medium('Removes packages of the machine.');
    } else if (
      /^(?:install|add|upgrade|dist-upgrade|full-upgrade|reinstall)$/.test(verb) ||
      args.some((arg) => /^-(?:S|U|i)[a-z]*$/.test(arg) && /^(?:pacman|rpm|dpkg)$/.test(program))
    )
      scope.medium('Installs packages of the machine.');
    if (
      args.includes('--allow-unauthenticated') ||
      args.includes('--nogpgcheck') ||
      args.includes('--force-yes') ||
      args.includes('--allow-untrusted') ||
      args.includes('--no-gpg-checks') ||
      args.includes('--nosignature') ||
      args.some((arg) =>
        /AllowInsecureRepositories=true|AllowUnauthenticated=true|Verify-Peer=false/i.test(arg),
      )
    )
      scope.high('Installs packages without checking who made them.');
  }),
  ...each('twine', ({ args }, scope) => {
    if (args[0] === 'upload') scope.medium('Publishes a package.');
  }),
};

function installPython(program: string, args: readonly string[], scope: Parameters<Checks[string]>[1]): void {
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (words[0] === 'config' && words[1] === 'set' && redirecting.test(words.slice(2).join(' ')))
    scope.high('Makes every later installation use another place or program.');
  const at = words.findIndex((word) => word === 'install' || word === 'add');
  if (program !== 'easy_install' && at === -1) return;
  if (args.some((arg) => /^--(?:extra-)?index-url|^-i$|^--find-links|^--trusted-host/.test(arg)))
    scope.medium('Installs packages from another place than usual.');
  const skip = new Set(
    args.flatMap((arg, index) =>
      /^-(?:r|c|e|t|i|n|p)$|^--(?:requirement|constraint|target|index-url|extra-index-url|python|prefix|group|extra|name|channel)$/.test(
        arg,
      )
        ? [args[index + 1]]
        : [],
    ),
  );
  const edited = args.flatMap((arg, index) =>
    arg === '-e' || arg === '--editable' || arg === '-r' ? [args[index + 1] ?? ''] : [],
  );
  const names = words
    .slice(at + 1)
    .filter((name) => !skip.has(name) && !trusted.has(name) && !/^[./~]/.test(name));
  const foreign = [...names, ...edited].find((name) => /^(?:git\+|https?:|ftp:|svn\+|hg\+)/.test(name));
  if (foreign !== undefined) scope.medium(`Installs a package from an address: ${foreign}`);
  else if (names.length > 0) scope.medium('Installs packages, which may run scripts.');
}

function valueAfter(args: readonly string[], ...options: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => options.includes(arg));
  return at === -1 ? undefined : args[at + 1];
}
