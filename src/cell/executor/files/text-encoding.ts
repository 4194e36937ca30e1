/** Tells text from other content, and turns it into strings and back without losing a byte. */
import { isUtf8 } from 'node:buffer';
import type { Steps } from '../../../base/pace.js';
import { WorkcellError } from '../../../protocol/index.js';

export type TextEncoding = 'utf8' | 'utf8-bom' | 'utf16le' | 'utf16be' | 'latin1';

/** Bytes or characters of one step; even. */
const stepLength = 262_144;

/** Names the encoding of a text; undefined when the content is not text. */
export function detectEncoding(data: Buffer): TextEncoding | undefined {
  if (startsWith(data, 0xff, 0xfe) && data.length % 2 === 0) return 'utf16le';
  if (startsWith(data, 0xfe, 0xff) && data.length % 2 === 0) return 'utf16be';
  if (data.includes(0)) return undefined;
  if (!isUtf8(data)) return 'latin1';
  return startsWith(data, 0xef, 0xbb, 0xbf) ? 'utf8-bom' : 'utf8';
}

const markLengths = { utf8: 0, 'utf8-bom': 3, utf16le: 2, utf16be: 2, latin1: 0 };

/** The text without its byte order mark. */
export function* textDecoded(data: Buffer, encoding: TextEncoding): Steps<string> {
  const parts: string[] = [];
  for (let start = markLengths[encoding]; start < data.length; ) {
    let end = Math.min(start + stepLength, data.length);
    if (encoding.startsWith('utf8')) end = characterStart(data, end);
    parts.push(decodePart(data.subarray(start, end), encoding));
    start = end;
    yield;
  }
  return parts.join('');
}

function decodePart(data: Buffer, encoding: TextEncoding): string {
  switch (encoding) {
    case 'utf8':
    case 'utf8-bom':
      return data.toString('utf8');
    case 'utf16le':
      return data.toString('utf16le');
    case 'utf16be':
      return Buffer.from(data).swap16().toString('utf16le');
    case 'latin1':
      return data.toString('latin1');
  }
}

/** Where the UTF-8 character that a position is in starts. */
function characterStart(data: Buffer, position: number): number {
  const isWithin = (at: number) => ((data[at] ?? 0) & 0xc0) === 0x80;
  // A character has four bytes at most.
  for (let start = position; start > position - 4; start--) if (!isWithin(start)) return start;
  return position;
}

/** The bytes of a text, with the byte order mark that its encoding calls for. */
export function* textEncoded(text: string, encoding: TextEncoding): Steps<Buffer> {
  const parts = markLengths[encoding] === 0 ? [] : [encodePart('\uFEFF', encoding)];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + stepLength, text.length);
    if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end--;
    parts.push(encodePart(text.slice(start, end), encoding));
    start = end;
    yield;
  }
  return Buffer.concat(parts);
}

function encodePart(text: string, encoding: TextEncoding): Buffer {
  switch (encoding) {
    case 'utf8':
    case 'utf8-bom':
      return Buffer.from(text, 'utf8');
    case 'utf16le':
      return Buffer.from(text, 'utf16le');
    case 'utf16be':
      return Buffer.from(text, 'utf16le').swap16();
    case 'latin1':
      return encodeLatin1(text);
  }
}

/** The second half of a character. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function encodeLatin1(text: string): Buffer {
  const beyond = /[^\0-\xff]/u.exec(text);
  if (beyond === null) return Buffer.from(text, 'latin1');
  throw new WorkcellError(
    'invalid-action',
    `The file is not UTF-8, so Workcell reads it as Latin-1, which has no character ${JSON.stringify(beyond[0])}. Leave the character out, or write the file whole as UTF-8.`,
  );
}

function startsWith(data: Buffer, ...bytes: number[]): boolean {
  return bytes.every((byte, index) => data[index] === byte);
}
