/**
 * Reads a Range header: the requested bytes, `none` when the file has none of them, `whole` when the header does not
 * count.
 */
export function parseRange(header: string, size: number): { start: number; end: number } | 'none' | 'whole' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  const [, first = '', last = ''] = match ?? [];
  // HTTP lets a server ignore several ranges at once, and units other than bytes.
  if (match === null || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'none' : { start, end };
}
