/** The key of the reader. It comes with the address once, and from then on stays in this tab. */

const storageName = 'workcell-key';

/** Takes the key out of the address before anything else reads, copies or shows that. */
export function takeKey(): void {
  const match = /^#key=([^&]+)(?:&(.*))?$/.exec(window.location.hash);
  if (match === null) return;
  sessionStorage.setItem(storageName, decodeURIComponent(match[1] ?? ''));
  window.history.replaceState(null, '', `${window.location.pathname}#${match[2] ?? '/'}`);
}

export function currentKey(): string | undefined {
  return sessionStorage.getItem(storageName) ?? undefined;
}

export function setKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(storageName);
  else sessionStorage.setItem(storageName, key);
}
