/** Signed links to a port of a cell: whoever has one may use that port, until its time is over. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface PreviewLink {
  readonly cell: string;
  readonly port: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What carries the token on the first visit of a preview that has a host of its own. */
export const tokenParameter = 'workcell-preview';

export class PreviewLinks {
  readonly #secret: string;
  readonly #base: URL;
  /** What stands after the name of a preview in its host, or undefined where previews share one host. */
  readonly hostSuffix: string | undefined;

  /** `base`: where browsers reach previews; with `*` as the first part of its host, each has a host of its own. */
  constructor(secret: string, base: string) {
    this.#secret = secret;
    this.hostSuffix = /^https?:\/\/\*(\.[^/?#]+)/.exec(base)?.[1]?.toLowerCase();
    this.#base = new URL(base.replace('//*.', '//'));
  }

  get isSecure(): boolean {
    return this.#base.protocol === 'https:';
  }

  urlOf(link: PreviewLink): string {
    const { protocol, host } = this.#base;
    const token = this.#tokenOf(link);
    if (this.hostSuffix !== undefined)
      return `${protocol}//${link.port}-${link.cell}${this.hostSuffix}/?${tokenParameter}=${token}`;
    return `${protocol}//${host}/${token}/`;
  }

  /** What a token stands for; undefined for a forged or expired one. */
  read(token: string): PreviewLink | undefined {
    const [, cell = '', port, at] = /^([0-9a-z]{1,64})-(\d{1,5})-(\d{1,15})-[0-9a-f]{64}$/.exec(token) ?? [];
    const link = { cell, port: Number(port), expiresAt: Number(at) };
    const right = Buffer.from(this.#tokenOf(link));
    const given = Buffer.from(token);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    return link.expiresAt > Date.now() ? link : undefined;
  }

  #tokenOf({ cell, port, expiresAt }: PreviewLink): string {
    const said = `${cell}-${port}-${expiresAt}`;
    return `${said}-${createHmac('sha256', this.#secret).update(`preview ${said}`).digest('hex')}`;
  }
}
