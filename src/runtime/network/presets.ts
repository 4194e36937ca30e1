/**
 * Rules that follow the tools of this machine: a package manager may reach the places that its settings fetch from.
 * It reads the settings of the user and the system, never a file that a cell can write.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHostProgram, hostPath } from '../../base/find-program.js';
import { homeDirectory } from '../../base/user-directories.js';
import { WorkcellError } from '../../protocol/index.js';
import { parseHost } from '../../protocol/network/host.js';
import type { NetworkPreset, RequestRule } from '../../protocol/network/network-schema.js';
import { keepRemotes } from './kept-remotes.js';

const run = promisify(execFile);

/** What each preset stands for, as rules. `workspace`: the directory whose remotes `git` means. */
export async function presetRules(presets: readonly NetworkPreset[], workspace: string): Promise<string[]> {
  const lists = await Promise.all([...new Set(presets)].map((preset) => rulesOf(preset, workspace)));
  return [...new Set(lists.flat())];
}

const finders: Readonly<Record<NetworkPreset, (workspace: string) => Promise<string[]>>> = {
  npm: async () => settingsOf(await output('npm', ['config', 'list', '--json'])).flatMap(urlsIn),
  pip: async () => [
    ...urlsIn(await output('python3', ['-I', '-c', pipDefaults])),
    ...(await output('python3', ['-I', '-m', 'pip', '--disable-pip-version-check', 'config', 'list']))
      .split('\n')
      .filter((line) => /^\S*\.(?:extra-)?(?:index-url|find-links)=/.test(line))
      .flatMap(urlsIn),
  ],
  go: async () => [
    ...urlsIn(await output('go', ['env', 'GOPROXY'])),
    ...namesIn(await output('go', ['env', 'GOSUMDB'])),
  ],
  cargo: async () => {
    const { CARGO_HOME: place = join(homeDirectory(), '.cargo') } = process.env;
    const settings = ['config.toml', 'config']
      .map((name) => read(join(place, name)))
      .join('\n')
      .replace(/^\s*#.*$/gm, '');
    const isReplaced = /^\s*\[source\.crates-io\][^[]*\breplace-with\b/m.test(settings);
    const named = Object.entries(process.env).filter(([name]) => /^CARGO_REGISTRIES_\w+_INDEX$/.test(name));
    return [
      ...(isReplaced ? [] : defaultsOf('cargo', ['index.crates.io:443', 'static.crates.io:443'])),
      ...(settings.match(/^[^#\n]*\b(?:registry|index)\s*=.*$/gm) ?? []).flatMap(urlsIn),
      ...named.flatMap(([, url = '']) => urlsIn(url)),
    ];
  },
  maven: async () => {
    const settings = read(join(homeDirectory(), '.m2/settings.xml')).replace(/<!--[\s\S]*?-->/g, '');
    const mirrored = (settings.match(/<mirrorOf>[^<]*/g) ?? []).flatMap((text) => text.slice(10).split(','));
    const isReplaced = mirrored.some((id) => ['*', 'external:*', 'central'].includes(id.trim()));
    return [
      ...(isReplaced ? [] : defaultsOf('mvn', ['repo.maven.apache.org:443'])),
      ...(settings.match(/<url>[^<]*/g) ?? []).flatMap(urlsIn),
    ];
  },
  apt: async () => (await aptSources()).flatMap(urlsIn),
  // Its hosts take only some requests, so no rule allows all of them.
  'git-read': async () => [],
  git: (workspace) => gitHosts(workspace),
};

/** Where a tool that is here fetches from when nothing is set up, for tools that do not tell. */
function defaultsOf(program: string, rules: readonly string[]): readonly string[] {
  return findHostProgram(program) === undefined ? [] : rules;
}

/** `isWeb`: only of those that speak HTTP. */
async function gitHosts(workspace: string, isWeb = false): Promise<string[]> {
  const urls = await output('git', [
    'config',
    '--file',
    keepRemotes(workspace),
    '--get-regexp',
    '^remote\\..*\\.(push)?url$',
  ]);
  return urls.split('\n').flatMap((line) => remoteRule(line.replace(/^\S+\s/, ''), isWeb));
}

/** What presets stand for beyond hosts: code hosts that can be cloned from and not pushed to. */
export async function presetRequests(
  presets: readonly NetworkPreset[],
  workspace: string,
): Promise<RequestRule[]> {
  if (!presets.includes('git-read')) return [];
  const hosts = await gitHosts(workspace, true);
  if (hosts.length === 0) throw standsForNothing('git-read', workspace);
  return [...new Set(hosts)].flatMap((host) => [
    { host, methods: ['GET', 'HEAD'] },
    { host, methods: ['POST'], paths: ['/**/git-upload-pack', '/**/info/lfs/objects/batch'] },
  ]);
}

/** Where pip fetches from when nothing is set up, and where the index leads for files. */
const pipDefaults =
  'from pip._internal.models.index import PyPI as index; print(index.simple_url, "https://" + index.file_storage_domain)';

async function rulesOf(preset: NetworkPreset, workspace: string): Promise<string[]> {
  const rules = await finders[preset](workspace);
  if (rules.length > 0 || preset === 'git-read') return rules;
  throw standsForNothing(preset, workspace);
}

function standsForNothing(preset: NetworkPreset, workspace: string): WorkcellError {
  const where = preset.startsWith('git')
    ? `${workspace} had no such remote when the first cell started there`
    : `${preset} is not set up on this machine`;
  return new WorkcellError(
    'invalid-config',
    `The network preset "${preset}" stands for nothing here: ${where}. Leave it out, or name the hosts in allow.`,
    { details: { preset } },
  );
}

/** The registries among the settings of npm, including those of scopes. */
function settingsOf(json: string): string[] {
  try {
    const settings = Object.entries(JSON.parse(json) as Record<string, unknown>);
    return settings.flatMap(([key, value]) => (/(?:^|:)registry$/.test(key) ? [String(value)] : []));
  } catch {
    return [];
  }
}

/** Empty where the program is missing or fails. Runs it outside of any project. */
async function output(program: string, args: string[]): Promise<string> {
  const path = findHostProgram(program);
  if (path === undefined) return '';
  const env = { HOME: '/', ...callerSettings(), PATH: hostPath() };
  const options = { cwd: '/', env, timeout: 20_000, maxBuffer: 1_048_576 };
  return run(path, args, options).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

const settingVariables = /^(?:HOME|XDG_CONFIG_HOME|PIP_\w+|GO(?:ENV|PROXY|SUMDB)|APT_CONFIG)$/;

/** What the caller set up by variables. npm hands on what a project says in the same ones, so none of npm's counts below it. */
function callerSettings(): NodeJS.ProcessEnv {
  const isBelowNpm = process.env.npm_command !== undefined || process.env.npm_lifecycle_event !== undefined;
  const isSetting = (name: string) =>
    settingVariables.test(name) || (!isBelowNpm && /^npm_config_/i.test(name));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isSetting(name)));
}

/** A rule for each address in a text, on its own port. */
function urlsIn(text: string): string[] {
  const found = text.match(/\bhttps?:\/\/[^\s"',|\\]+/g) ?? [];
  return found.flatMap((address) => {
    if (!URL.canParse(address)) return [];
    const { hostname, port, protocol } = new URL(address);
    const host = parseHost(hostname);
    // A preset opens hosts by name; you name an address of this machine or network yourself.
    if (host === undefined || !('name' in host)) return [];
    return [`${host.name}:${port || (protocol === 'http:' ? 80 : 443)}`];
  });
}

function namesIn(text: string): string[] {
  return text.split(/\s+/).flatMap((word) => {
    const host = word.includes('.') ? parseHost(word) : undefined;
    return host !== undefined && 'name' in host ? [`${host.name}:443`] : [];
  });
}

/** `https://host/…`, `ssh://git@host:22/…` and `git@host:path`. */
function remoteRule(remote: string, isWeb: boolean): string[] {
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)/.exec(remote)?.[1];
  const host = scp ?? (URL.canParse(remote) ? new URL(remote).hostname : '');
  const known = parseHost(host);
  if (known === undefined || !('name' in known)) return [];
  if (isWeb && !/^https?:/i.test(remote)) return [];
  if (scp !== undefined) return [`${known.name}:22`];
  const { protocol, port } = new URL(remote);
  const usual = { 'https:': 443, 'http:': 80, 'ssh:': 22, 'git:': 9418 }[protocol];
  return usual === undefined ? [] : [`${known.name}:${port || usual}`];
}

async function aptSources(): Promise<string[]> {
  const told = await output('apt-config', [
    'shell',
    'L',
    'Dir::Etc::sourcelist/f',
    'P',
    'Dir::Etc::sourceparts/d',
  ]);
  const [, list = '/etc/apt/sources.list'] = /^L='([^']*)'$/m.exec(told) ?? [];
  const [, directory = '/etc/apt/sources.list.d'] = /^P='([^']*)'$/m.exec(told) ?? [];
  const files = [list, ...entries(directory).map((name) => join(directory, name))];
  return files
    .filter((file) => /\.(?:list|sources)$/.test(file))
    .map((file) => read(file).replace(/^\s*#.*$/gm, ''));
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
