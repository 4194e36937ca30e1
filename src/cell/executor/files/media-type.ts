/** Names the kind of a file by its first bytes, and by its extension where those say nothing. */
import { extname } from 'node:path';
import { binaryTypeOf } from '../../../base/media-types.js';

const signatures: readonly (readonly [mediaType: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['audio/wav', 8, 'WAVE'],
  ['image/bmp', 0, 'BM'],
  ['application/pdf', 0, '%PDF-'],
  ['video/mp4', 4, 'ftyp'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
  ['audio/ogg', 0, 'OggS'],
  ['audio/mpeg', 0, 'ID3'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/zip', 0, 'PK\x05\x06'],
  ['application/gzip', 0, '\x1f\x8b'],
];

/** How much of the beginning to look at. */
const signatureBytes = 16;

/** `isText`: whether the content is text. */
export function mediaTypeOf(path: string, head: Buffer, isText: boolean): string {
  const extension = extname(path).toLowerCase();
  if (isText) {
    if (head.subarray(0, 5).toString('latin1') === '%PDF-') return 'application/pdf';
    return extension === '.svg' ? 'image/svg+xml' : 'text/plain';
  }
  const start = head.subarray(0, signatureBytes).toString('latin1');
  const signature = signatures.find(([, offset, bytes]) => start.startsWith(bytes, offset));
  return signature?.[0] ?? binaryTypeOf(path) ?? 'application/octet-stream';
}
