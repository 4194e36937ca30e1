/** Where packages come from, whatever installs them. */
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { isFetcher } from '../shell/sources.js';
import { type Checks, each } from './check.js';

export const packageSources: Checks = each(
  'npm pnpm yarn bun npx bunx pnpx pip pip3 pip2 uv uvx pipx easy_install conda mamba micromamba gem cargo go brew composer cpan cpanm luarocks poetry apt apt-get dnf yum apk pacman zypper dpkg rpm rpmkeys snap flatpak apt-key add-apt-repository yum-config-manager helm opam nix-env nix vsce code gdebi dart flutter mix',
  judgeForeign,
);

/** Places from which packages are usually fetched; anything else may be anybody's. */
const knownHosts =
  /^(?:[\w-]+\+)?(?:https|ssh):\/\/(?:[^/@]+@)?(?:[\w-]+\.)*(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|pypi\.org|pythonhosted\.org|npmjs\.org|npmjs\.com|yarnpkg\.com|npmmirror\.com|pytorch\.org|nvidia\.com|googleapis\.com|google\.com|jsdelivr\.net|unpkg\.com|docker\.com|nodesource\.com|postgresql\.org|hashicorp\.com|microsoft\.com|debian\.org|ubuntu\.com|fedoraproject\.org|rubygems\.org|crates\.io|anaconda\.(?:org|com)|apache\.org|codeberg\.org|huggingface\.co|python\.org|jfrog\.io|azure\.com|amazonaws\.com|pkg\.dev|kernel\.org|gnu\.org)(?:[:/]|$)/i;

/** An address out of which code comes that nobody vouches for: not encrypted, a bare number, or not a usual place. */
function isForeign(address: string): boolean {
  const url = /^(?:[\w-]+\+)?(?:https?|ftp|git|ssh):\/\/\S+/.exec(address)?.[0];
  if (url === undefined) return false;
  if (/^(?:[\w-]+\+)?(?:http|ftp|git):\/\/(?!localhost|127\.|\[::1\])/.test(url)) return true;
  if (/:\/\/(?:localhost|127\.|\[::1\])/.test(url)) return false;
  return (
    !knownHosts.test(url) &&
    (/:\/\/\d+\.\d+\.\d+\.\d+/.test(url) ||
      /\.(?:tgz|tar\.gz|whl|zip|deb|rpm|gem|apk|jar|git)(?:$|[#?@])/.test(url))
  );
}

function judgeForeign({ program, args, behind }: Invocation, scope: Scope): void {
  const adding =
    /^(?:i|in|install|add|ci|dlx|exec|x|localinstall|reinstall|upgrade|update|get|tap|require|-[iU]\w*|--install|--upgrade|run|create|adv|download|plugin|globals?|--fetch-keys|swupd|sideload)$/;
  if (
    !args.some((arg) => adding.test(arg)) &&
    !/^(?:npx|bunx|pnpx|uvx|easy_install|cpanm?|apt-key|add-apt-repository|rpm|rpmkeys|dnf|yum-config-manager)$/.test(
      program,
    )
  )
    return;
  if (behind.some(({ from }) => from.some((producer) => isFetcher(producer.program))))
    scope.high('Installs a package that was fetched from the network.');
  const found = args
    .map((arg) => arg.replace(/^--?[\w-]+=/, '').replace(/^\w[\w.-]*\s*@\s*/, ''))
    .find(isForeign);
  if (found !== undefined) scope.high(`Installs code from a place nobody vouches for: ${found}`);
  for (const arg of args)
    if (
      scope.downloaded.has(scope.place(arg)) &&
      /\.(?:deb|rpm|tgz|tar\.gz|whl|apk|zip|gem|jar|snap|pkg|flatpak)$/.test(arg)
    )
      scope.high(`Installs a package that was fetched from the network: ${arg}`);
}
