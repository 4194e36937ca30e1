/** Which preview a request is for, and whether it may have it. */
import type { IncomingMessage } from 'node:http';
import { type PreviewLink, type PreviewLinks, tokenParameter } from './preview-links.js';

export type Admission =
  | { readonly link: PreviewLink; readonly path: string; readonly cookie?: string | undefined }
  /** The first visit: the token becomes a cookie, and leaves the address. */
  | { readonly redirect: string; readonly setCookie: string };

/** Undefined for a request without a valid link. */
export function admit(links: PreviewLinks, request: IncomingMessage): Admission | undefined {
  return links.hostSuffix === undefined
    ? byPath(links, request.url ?? '/')
    : byHost(links, links.hostSuffix, request);
}

function byPath(links: PreviewLinks, url: string): Admission | undefined {
  const [, token = '', path = ''] = /^\/([^/?#]+)(\/.*)?$/.exec(url) ?? [];
  const link = links.read(token);
  if (link === undefined) return undefined;
  // Relative addresses of the page start below the token.
  return { link, path: path === '' ? '/' : path };
}

function byHost(links: PreviewLinks, suffix: string, request: IncomingMessage): Admission | undefined {
  const { host = '', origin, cookie = '' } = request.headers;
  const url = new URL(request.url ?? '/', 'http://preview');
  const fits = (token: string | null | undefined) => {
    const link = token == null ? undefined : links.read(token);
    return link !== undefined && host.toLowerCase() === `${link.port}-${link.cell}${suffix}`
      ? link
      : undefined;
  };
  const first = url.searchParams.get(tokenParameter);
  const asked = fits(first);
  if (first !== null && asked !== undefined) {
    url.searchParams.delete(tokenParameter);
    const age = Math.floor((asked.expiresAt - Date.now()) / 1000);
    const secure = links.isSecure ? '; Secure' : '';
    return {
      redirect: `${url.pathname}${url.search}`.replace(/^\/{2,}/, '/'),
      setCookie: `${cookieName(links)}=${first}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`,
    };
  }
  // Pages of other previews are of the same site, so their requests come with the cookie, too.
  if (
    origin !== undefined &&
    origin.toLowerCase() !== `${links.isSecure ? 'https' : 'http'}://${host.toLowerCase()}`
  )
    return undefined;
  const cookies = cookie.split(/; */);
  const own = `${cookieName(links)}=`;
  const link = fits(cookies.find((one) => one.startsWith(own))?.slice(own.length));
  const others = cookies.filter((one) => !one.startsWith(own)).join('; ');
  return link && { link, path: request.url ?? '/', cookie: others === '' ? undefined : others };
}

/** With the prefix, a browser takes it from this very host alone; that needs https. */
function cookieName({ isSecure }: PreviewLinks): string {
  return isSecure ? '__Host-workcell-preview' : 'workcell-preview';
}
