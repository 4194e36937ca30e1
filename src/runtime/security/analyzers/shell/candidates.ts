/** Programs that a name with wildcards or unknown parts may mean. */
import { globMatches, hasWildcard } from '../paths/glob.js';

const hidden = [
  'rm',
  'dd',
  'sh',
  'bash',
  'nc',
  'curl',
  'wget',
  'cat',
  'chmod',
  'shred',
  'mkfs.ext4',
  'python3',
];

/** Empty for an ordinary name, and for an entirely unknown one. */
export function candidatesFor(path: string): string[] {
  if (!hasWildcard(path)) return [];
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  if (!/[^\0]/.test(path)) return [];
  return hidden.filter((program) => globMatches(name, program));
}
