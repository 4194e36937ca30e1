/** Finds bubblewrap, and says what prevents its use on this machine and which command helps. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { findHostProgram } from '../../../base/find-program.js';
import { linuxAdvice } from '../../../base/linux-only.js';

export interface Obstacle {
  readonly summary: string;
  /** Commands or settings, one a line. */
  readonly advice: readonly string[];
}

const neededOptions = [
  '--perms',
  '--as-pid-1',
  '--die-with-parent',
  '--info-fd',
  '--seccomp',
  '--remount-ro',
];

export function findBubblewrap(): string | undefined {
  return findHostProgram('bwrap');
}

/** Why we cannot use bubblewrap at all; undefined when it is here and new enough. */
export async function findObstacle(program = findBubblewrap()): Promise<Obstacle | undefined> {
  if (process.platform !== 'linux') {
    return {
      summary: `Namespaces need Linux, and this is ${process.platform}.`,
      advice: [linuxAdvice],
    };
  }
  if (program === undefined) return missing();
  const { stdout } = await promisify(execFile)(program, ['--help']).catch(() => ({ stdout: '' }));
  const lacking = neededOptions.filter((option) => !stdout.includes(option));
  if (lacking.length === 0) return undefined;
  return {
    summary: `${program} is too old: it does not know ${lacking.join(', ')}. Version 0.5 or later is needed.`,
    advice: [installCommand(readText('/etc/os-release'))],
  };
}

/** Explains a failed start. `complaint` is the output of bubblewrap; `read` returns a file's text. */
export function explain(complaint: string, read: (path: string) => string = readText): Obstacle {
  const setting = (path: string) => read(`/proc/sys/${path}`).trim();
  const advice: string[] = [];
  const reasons: string[] = [];
  if (setting('kernel/unprivileged_userns_clone') === '0') {
    reasons.push('the kernel refuses user namespaces to plain users (kernel.unprivileged_userns_clone is 0)');
    advice.push('sudo sysctl -w kernel.unprivileged_userns_clone=1');
  }
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    reasons.push(
      'AppArmor refuses user namespaces to programs without a profile (kernel.apparmor_restrict_unprivileged_userns is 1)',
    );
    advice.push(
      `printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`,
    );
  }
  if (setting('user/max_user_namespaces') === '0') {
    reasons.push('user namespaces are turned off (user.max_user_namespaces is 0)');
    advice.push('sudo sysctl -w user.max_user_namespaces=15000');
  }
  if (reasons.length === 0 && isContainer(read)) {
    reasons.push('this runs in a container that refuses them');
    advice.push(
      'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
    );
  }
  const why = reasons.length > 0 ? ` Cause: ${reasons.join('; ')}.` : '';
  return { summary: `bubblewrap cannot make namespaces here: ${complaint}.${why}`, advice };
}

function missing(): Obstacle {
  return {
    summary: 'bubblewrap (bwrap) is not installed.',
    advice: [installCommand(readText('/etc/os-release'))],
  };
}

/** `release`: the text of `/etc/os-release`. */
export function installCommand(release: string): string {
  const ids = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' '),
  );
  if (ids.some((id) => ['debian', 'ubuntu'].includes(id))) return 'sudo apt-get install bubblewrap';
  if (ids.some((id) => ['fedora', 'rhel', 'centos'].includes(id))) return 'sudo dnf install bubblewrap';
  if (ids.some((id) => id.startsWith('opensuse') || id === 'suse')) return 'sudo zypper install bubblewrap';
  if (ids.includes('alpine')) return 'sudo apk add bubblewrap';
  if (ids.includes('arch')) return 'sudo pacman -S bubblewrap';
  return 'Install the package "bubblewrap".';
}

function isContainer(read: (path: string) => string): boolean {
  return (
    read('/proc/1/environ').includes('container=') ||
    /docker|containerd|kubepods|libpod/.test(read('/proc/1/cgroup') + read('/proc/self/mountinfo'))
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
