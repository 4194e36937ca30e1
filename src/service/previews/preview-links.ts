/** Signed links to a port of a cell: whoever has one may use that port, until its time is over or its key is gone. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ServiceKeys } from '../service-keys.js';
import type { KeyRecord } from '../service-store.js';

export interface PreviewLink {
  readonly cell: string;
  readonly port: number;
  /** The id of the key that made it. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What carries the token on the first visit of a preview that has a host of its own. */
export const tokenParameter = 'workcell-preview';

export class PreviewLinks {
  readonly #secret: string;
  readonly #keys: Pick<ServiceKeys, 'proofOf'>;
  readonly #base: URL;
  /** What stands after the name of a preview in its host, or undefined where previews share one host. */
  readonly hostSuffix: string | undefined;

  /** `base`: where browsers reach previews; with `*` as the first part of its host, each has a host of its own. */
  constructor(secret: string, keys: Pick<ServiceKeys, 'proofOf'>, base: string) {
    this.#secret = secret;
    this.#keys = keys;
    this.hostSuffix = /^https?:\/\/\*(\.[^/?#]+)/.exec(base)?.[1]?.toLowerCase();
    this.#base = new URL(base.replace('//*.', '//'));
  }

  get isSecure(): boolean {
    return this.#base.protocol === 'https:';
  }

  /** A link that holds no longer than the key of whoever asks for it. */
  create(
    asker: Pick<KeyRecord, 'id' | 'expiresAt'>,
    { cell, port, ttlMs }: { readonly cell: string; readonly port: number; readonly ttlMs: number },
  ): { readonly url: string; readonly expiresAt: number } {
    const expiresAt = Math.min(Date.now() + ttlMs, asker.expiresAt ?? Infinity);
    const token = this.#tokenOf({ cell, port, expiresAt, key: asker.id });
    const { protocol, host } = this.#base;
    const url =
      this.hostSuffix === undefined
        ? `${protocol}//${host}/${token}/`
        : `${protocol}//${port}-${cell}${this.hostSuffix}/?${tokenParameter}=${token}`;
    return { url, expiresAt };
  }

  /** What a token stands for; undefined for a forged or expired one, and when its key is gone. */
  read(token: string): PreviewLink | undefined {
    const [, cell = '', port, at, key = ''] =
      /^([0-9a-z]{1,64})-(\d{1,5})-(\d{1,15})-([0-9a-z]{1,64})-[0-9a-f]{64}$/.exec(token) ?? [];
    const link = { cell, port: Number(port), expiresAt: Number(at), key };
    const right = Buffer.from(this.#tokenOf(link) ?? '');
    const given = Buffer.from(token);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    return link.expiresAt > Date.now() ? link : undefined;
  }

  /** Undefined when the key does not hold. */
  #tokenOf({ cell, port, expiresAt, key }: PreviewLink): string | undefined {
    const proof = this.#keys.proofOf(key);
    if (proof === undefined) return undefined;
    const said = `${cell}-${port}-${expiresAt}-${key}`;
    const signature = createHmac('sha256', this.#secret).update(`preview ${said} ${proof}`).digest('hex');
    return `${said}-${signature}`;
  }
}
