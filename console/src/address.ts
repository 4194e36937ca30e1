/** The address is the state of the page: which view, of what, at which moment. */
import { useSyncExternalStore } from 'react';

export interface Place {
  /** Words of the path, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function usePlace(): Place {
  return readPlace(useSyncExternalStore(subscribe, () => window.location.hash));
}

export function hrefOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const asked = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join('/')}${asked}`;
}

/** Changes the query of this view without a step in the history. */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = readPlace(window.location.hash);
  const next = { ...Object.fromEntries(query), ...changes };
  window.history.replaceState(null, '', hrefOf(path, next));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

export function goTo(path: readonly string[]): void {
  window.location.hash = hrefOf(path);
}

function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** A reader can type an address by hand. */
function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  return () => window.removeEventListener('hashchange', onChange);
}
