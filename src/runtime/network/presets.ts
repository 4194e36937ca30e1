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
    const settings = ['config.toml', 'config'].map((name) => read(join(place, name))).join('\n');
    return (settings.match(/^[^#\n]*\b(?:registry|index)\s*=.*$/gm) ?? []).flatMap(urlsIn);
  },
  maven: async () =>
    (
      read(join(homeDirectory(), '.m2/settings.xml'))
        .replace(/<!--[\s\S]*?-->/g, '')
        .match(/<url>[^<]*/g) ?? []
    ).flatMap(urlsIn),
  apt: async () => aptSources().flatMap(urlsIn),
  // Its hosts take only some requests, so no rule allows all of them.
  'git-read': async () => [],
  git: (workspace) => gitHosts(workspace),
};

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
  const { HOME = '/' } = process.env;
  const options = { cwd: '/', env: { HOME, PATH: hostPath() }, timeout: 20_000, maxBuffer: 1_048_576 };
  return run(path, args, options).then(
    ({ stdout }) => stdout,
    () => '',
  );
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

function aptSources(): string[] {
  const directory = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...entries(directory).map((name) => join(directory, name))];
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
