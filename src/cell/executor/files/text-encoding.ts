/** Tells text from other content, and turns it into strings and back without losing a byte. */
import { isUtf8 } from 'node:buffer';
import { WorkcellError } from '../../../protocol/index.js';

export type TextEncoding = 'utf8' | 'utf8-bom' | 'utf16le' | 'utf16be' | 'latin1';

/** Names the encoding of a text; undefined when the content is not text. */
export function detectEncoding(data: Buffer): TextEncoding | undefined {
  if (startsWith(data, 0xff, 0xfe) && data.length % 2 === 0) return 'utf16le';
  if (startsWith(data, 0xfe, 0xff) && data.length % 2 === 0) return 'utf16be';
  if (data.includes(0)) return undefined;
  if (!isUtf8(data)) return 'latin1';
  return startsWith(data, 0xef, 0xbb, 0xbf) ? 'utf8-bom' : 'utf8';
}

/** The text without its byte order mark. */
export function decodeText(data: Buffer, encoding: TextEncoding): string {
  switch (encoding) {
    case 'utf8':
      return data.toString('utf8');
    case 'utf8-bom':
      return data.subarray(3).toString('utf8');
    case 'utf16le':
      return data.subarray(2).toString('utf16le');
    case 'utf16be':
      return Buffer.from(data.subarray(2)).swap16().toString('utf16le');
    case 'latin1':
      return data.toString('latin1');
  }
}

/** The bytes of a text, with the byte order mark that its encoding calls for. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text, 'utf8');
    case 'utf8-bom':
      return Buffer.from(`\uFEFF${text}`, 'utf8');
    case 'utf16le':
      return Buffer.from(`\uFEFF${text}`, 'utf16le');
    case 'utf16be':
      return Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
    case 'latin1':
      return encodeLatin1(text);
  }
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
