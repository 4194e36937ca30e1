/** One spelling of a path that actions name as they like: from the workspace where it is below it. */
export function plainPath(path: string, root?: string): string {
  const isWhole = path.startsWith('/');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const plain = `${isWhole ? '/' : ''}${names.join('/')}` || '.';
  return root !== undefined && plain.startsWith(`${root}/`) ? plain.slice(root.length + 1) : plain;
}
