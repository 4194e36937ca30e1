/** Messages of the Jupyter protocol, signed. Without the kernel's signature, data is no message. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { parseUntrustedJson, usualBounds } from '../../../base/untrusted-json.js';
import type { Frame } from './zmtp.js';

export type Content = Readonly<Record<string, unknown>>;

export interface Message {
  readonly type: string;
  readonly id: string;
  /** The request that it belongs to. */
  readonly parentId: string | undefined;
  readonly content: Content;
}

const delimiter = '<IDS|MSG>';

/** A picture is one long string. */
const bounds = { ...usualBounds, bytes: Number.POSITIVE_INFINITY };

const headerSchema = z.object({ msg_id: z.string().max(512), msg_type: z.string().max(128) });
const parentSchema = z.object({ msg_id: z.string().max(512).optional() });
const contentSchema = z.record(z.string(), z.unknown());

/** Reads and writes the messages of one connection to a kernel. */
export class Messages {
  readonly #key: string;
  readonly session = randomUUID();

  constructor(key: string) {
    this.#key = key;
  }

  /** A message as frames, and the id that answers name. */
  write(type: string, content: Content, parent: Content = {}): { id: string; frames: Buffer[] } {
    const id = randomUUID();
    const header = {
      msg_id: id,
      msg_type: type,
      session: this.session,
      username: 'workcell',
      date: new Date().toISOString(),
      version: '5.3',
    };
    const parts = [header, parent, {}, content].map((part) => Buffer.from(JSON.stringify(part)));
    return { id, frames: [Buffer.from(delimiter), Buffer.from(this.#sign(parts)), ...parts] };
  }

  /** The message in these frames; undefined when the kernel did not sign them. */
  read(frames: readonly Frame[]): Message | undefined {
    const at = frames.findIndex((frame) => Buffer.isBuffer(frame) && frame.toString('latin1') === delimiter);
    const [signature, ...parts] = frames.slice(at + 1, at + 6);
    if (at === -1 || parts.length !== 4 || !isBuffers(parts) || !Buffer.isBuffer(signature)) return undefined;
    if (!isEqual(signature, Buffer.from(this.#sign(parts)))) return undefined;
    const [header, parent, , content] = parts.map(parseJson);
    const checkedHeader = headerSchema.safeParse(header);
    const checkedContent = contentSchema.safeParse(content);
    if (!checkedHeader.success || !checkedContent.success) return undefined;
    return {
      type: checkedHeader.data.msg_type,
      id: checkedHeader.data.msg_id,
      parentId: parentSchema.safeParse(parent).data?.msg_id,
      content: checkedContent.data,
    };
  }

  #sign(parts: readonly Buffer[]): string {
    const hmac = createHmac('sha256', this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest('hex');
  }
}

function isBuffers(frames: readonly Frame[]): frames is readonly Buffer[] {
  return frames.every((frame) => Buffer.isBuffer(frame));
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return parseUntrustedJson(bytes, bounds);
  } catch {
    return undefined;
  }
}
