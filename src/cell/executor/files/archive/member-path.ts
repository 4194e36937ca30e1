/** Judges the names and link targets that an archive carries. */
import { split } from '../paths.js';
import { refused } from './archive-limits.js';

const maxNameBytes = 255;
const maxPathBytes = 4096;

/** The parts of a member's name; none for the target directory itself. */
export function memberNames(member: string): string[] {
  const advice = 'Pack the files again with relative names.';
  if (member.startsWith('/')) throw refused('its name is absolute', advice, { member });
  if (member.includes('\0')) throw refused('its name has a NUL character', advice, { member });
  const names = split(member);
  if (names.includes('..')) throw refused('its name has a ".." in it', advice, { member });
  if (
    Buffer.byteLength(member) > maxPathBytes ||
    names.some((name) => Buffer.byteLength(name) > maxNameBytes)
  ) {
    throw refused('its name is too long', advice, { member });
  }
  return names;
}

/**
 * Refuses a link that leads out of the target directory. No `..` may follow a name: the name may itself be a link, and
 * then the way up starts elsewhere.
 */
export function checkLinkTarget(names: readonly string[], target: string): void {
  const member = names.join('/');
  const parts = split(target);
  const climbs = parts.findIndex((part) => part !== '..');
  const ups = climbs === -1 ? parts.length : climbs;
  const isSafe =
    target !== '' &&
    !target.startsWith('/') &&
    !target.includes('\0') &&
    Buffer.byteLength(target) <= maxPathBytes &&
    ups < names.length &&
    !parts.slice(ups).includes('..');
  if (isSafe) return;
  throw refused(
    `it is a link to ${JSON.stringify(target.slice(0, 300))}, which leads out of the unpacked directory or may do so`,
    'Pack it without the link, or with the file that it points to.',
    { member },
  );
}
