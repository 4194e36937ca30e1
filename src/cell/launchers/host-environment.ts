import { inheritedEnvironment } from '../../base/hidden-variables.js';

/** A program that pages its output would wait for a person who is not there. */
const shellDefaults = { PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat', TERM: 'xterm-256color' };

/** What commands on this machine start with: the caller's variables, without those that steer Workcell and may hold a token. */
export function hostEnvironment(given: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(inheritedEnvironment()).filter(([name]) => !name.startsWith('WORKCELL_'));
  return { ...Object.fromEntries(own), ...shellDefaults, ...given };
}
