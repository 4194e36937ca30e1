/**
 * Tracks the names in an archive, member by member. The code that judges an archive and the code that unpacks it both
 * use this, so they refuse the same names.
 */
import { refused } from './archive-limits.js';
import { checkLinkTarget, memberNames } from './member-path.js';

export class MemberNames {
  /** The archive's own files; hard links may name no others. */
  readonly #files = new Set<string>();

  /** Empty for the target directory itself. */
  directory(member: string): string[] {
    return memberNames(member);
  }

  file(member: string): string[] {
    const names = named(member);
    this.#files.add(names.join('/'));
    return names;
  }

  symbolicLink(member: string, target: string): string[] {
    const names = named(member);
    checkLinkTarget(names, target);
    this.#files.delete(names.join('/'));
    return names;
  }

  hardLink(member: string, target: string): { names: string[]; target: string[] } {
    const names = named(member);
    const to = named(target);
    if (!this.#files.has(to.join('/'))) throw noFile(member, target);
    this.#files.add(names.join('/'));
    return { names, target: to };
  }
}

export function noFile(member: string, target: string): Error {
  return refused(
    `it is a link to ${JSON.stringify(target.slice(0, 300))}, which is no file of the archive`,
    'Pack it again.',
    { member },
  );
}

function named(member: string): string[] {
  const names = memberNames(member);
  if (names.length === 0)
    throw refused('it has no name', 'Pack the files again with relative names.', { member });
  return names;
}
