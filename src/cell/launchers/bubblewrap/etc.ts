/** The `/etc` of a cell: what programs need to work, and nothing that tells about this machine or its people. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFleeting } from '../scratch.js';
import type { CellNetworkKind } from './bubblewrap-arguments.js';
import { resolverConfiguration } from './egress/egress.js';
import { copyOf } from './etc-copy.js';
import { cellUser } from './layout.js';

export interface Etc {
  readonly path: string;
  /** Directories of the host's `/etc` to mount in it. */
  readonly shared: readonly string[];
}

/** Copied, links as links. Directories among them are small. */
const copied =
  /^(ld\.so\.cache|ld\.so\.conf|localtime|timezone|mime\.types|magic|protocols|services|os-release|debian_version|inputrc|mtab|maven|python.*)$/;

/**
 * Mounted, each for a fifth of a millisecond, because a first cell would wait longer for copies of their hundreds of
 * files. Only parts
 * that every user may read: where the caller is root, the cell could read files that are root's alone.
 */
const mounted = /^(alternatives|fonts|java.*|crypto-policies)$/;
const mountedParts = ['ssl/certs', 'pki/tls/certs', 'pki/ca-trust', 'pki/java'];

const assembled = new Map<string, Etc>();

/** From this many cells on, copying what the first ones mount pays off. */
const manyCells = 8;
let cells = 0;

/** Assembled once for each kind of network and settings of git; it goes with this process. */
export function assembleEtc(network: CellNetworkKind, gitSettings?: string): Etc {
  const etc = assembleBase(network, gitSettings);
  return ++cells > manyCells ? (copyOf(etc) ?? etc) : etc;
}

function assembleBase(network: CellNetworkKind, gitSettings?: string): Etc {
  const key = JSON.stringify([network, gitSettings]);
  const known = assembled.get(key);
  if (known !== undefined && existsSync(known.path)) return known;
  const path = makeFleeting('etc');
  chmodSync(path, 0o755);
  for (const [name, content] of Object.entries(ownFiles(network))) writeFileSync(join(path, name), content);
  if (gitSettings !== undefined) writeFileSync(join(path, 'gitconfig'), gitSettings);
  const shared = [...mountedParts];
  for (const name of readdirSync('/etc')) {
    if (copied.test(name)) copyPart(join('/etc', name), join(path, name));
    else if (mounted.test(name)) shared.push(name);
  }
  const present = shared.filter((name) =>
    statSync(join('/etc', name), { throwIfNoEntry: false })?.isDirectory(),
  );
  for (const name of present) mkdirSync(join(path, name), { recursive: true });
  copyIfPresent('/etc/ssl/openssl.cnf', join(path, 'ssl/openssl.cnf'));
  const etc = { path, shared: present.map((name) => join('/etc', name)) };
  assembled.set(key, etc);
  return etc;
}

function ownFiles(network: CellNetworkKind): Record<string, string> {
  const { name, uid, gid, home } = cellUser;
  const files: Record<string, string> = {
    passwd: [
      'root:x:0:0:root:/root:/usr/sbin/nologin',
      `${name}:x:${uid}:${gid}:${name}:${home}:/bin/bash`,
      'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
      '',
    ].join('\n'),
    group: `root:x:0:\n${name}:x:${gid}:\nnogroup:x:65534:\n`,
    hostname: 'cell\n',
    hosts: '127.0.0.1 localhost cell\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n',
    'host.conf': 'multi on\n',
  };
  const resolver = network === 'host' ? read('/etc/resolv.conf') : undefined;
  if (network === 'egress') files['resolv.conf'] = resolverConfiguration;
  else if (resolver !== undefined) files['resolv.conf'] = resolver;
  return files;
}

/** What `cpSync` does with its checks of every directory around both takes longer than all else here. */
function copyPart(from: string, to: string): void {
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stats.isFile()) copyFileSync(from, to);
  else if (stats.isDirectory()) {
    mkdirSync(to);
    for (const name of readdirSync(from)) copyPart(join(from, name), join(to, name));
    chmodSync(to, stats.mode);
  }
}

function copyIfPresent(from: string, to: string): void {
  const text = read(from);
  if (text === undefined) return;
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
