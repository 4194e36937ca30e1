/** The address without what may be secret in it: a name, a password and a query. */
export function urlWithoutSecrets(address: string): string {
  if (!address.includes('://')) return address.replace(/^[^/@]*:[^/@]*@/, '');
  if (!URL.canParse(address)) return address.replace(/:\/\/.*@/s, '://').replace(/[?#].*$/s, '');
  const url = new URL(address);
  // Others stay as they were written.
  if (url.username + url.password + url.search + url.hash === '') return address;
  for (const part of ['username', 'password', 'search', 'hash'] as const) url[part] = '';
  return url.href;
}
