import { inheritedEnvironment } from '../../base/hidden-variables.js';

/** A program that pages its output would wait for a person who is not there. */
const shellDefaults = { PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat', TERM: 'xterm-256color' };

/**
 * The variables of commands on this machine: the caller's, without those that control Workcell and may hold a token.
 */
export function hostEnvironment(given: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(inheritedEnvironment()).filter(([name]) => !name.startsWith('WORKCELL_'));
  return { ...Object.fromEntries(own), ...shellDefaults, ...given };
}
