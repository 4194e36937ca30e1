/** Links of the kernel in `/proc` that lead to the root or to the working directory of a process. */

export interface ProcessLink {
  readonly kind: 'root' | 'cwd';
  /** What follows the link, still with its `..`. */
  readonly rest: string;
}

/** The first such link on the way of an absolute path, as the kernel walks it. */
export function processLink(path: string): ProcessLink | undefined {
  if (!path.includes('proc')) return undefined;
  const segments = path.split('/');
  const walked: string[] = [];
  for (const [index, segment] of segments.entries()) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') walked.pop();
    else walked.push(segment);
    const [, kind] =
      /^proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(root|cwd)$/.exec(walked.join('/')) ?? [];
    if (kind !== undefined)
      return { kind: kind as ProcessLink['kind'], rest: segments.slice(index + 1).join('/') };
  }
  return undefined;
}
