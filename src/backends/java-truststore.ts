/** Certificates as Java reads them: a key store of the type JKS, which every Java takes. */
import { createHash, X509Certificate } from 'node:crypto';

/** Java itself uses this one. It protects nothing: who can write the file can write the digest. */
const password = 'changeit';

const magic = 0xfeedfeed;
const version = 2;
const trusted = 2;

/** `roots` and `own`: certificates in PEM. Leaves out what is no certificate. */
export function javaTruststore(roots: string, own: string): Buffer {
  const certificates = [...readOnce(roots), ...readAll(own)];
  const entries = certificates.flatMap((bytes, index) => [
    number(4, trusted),
    text(`authority-${index}`),
    // When it was added.
    number(8, Date.now()),
    text('X.509'),
    number(4, bytes.length),
    bytes,
  ]);
  const head = [number(4, magic), number(4, version), number(4, certificates.length)];
  const store = Buffer.concat([...head, ...entries]);
  const key = Buffer.from(password, 'utf16le').swap16();
  const digest = createHash('sha1').update(key).update('Mighty Aphrodite').update(store).digest();
  return Buffer.concat([store, digest]);
}

let known: { readonly roots: string; readonly certificates: readonly Buffer[] } | undefined;

/** Those of the machine are hundreds, and the same for every cell. */
function readOnce(roots: string): readonly Buffer[] {
  if (known?.roots !== roots) known = { roots, certificates: readAll(roots) };
  return known.certificates;
}

function readAll(bundle: string): Buffer[] {
  const texts = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(texts)].map(read).filter((bytes) => bytes !== undefined);
}

function read(pem: string): Buffer | undefined {
  try {
    return new X509Certificate(pem).raw;
  } catch {
    return undefined;
  }
}

function number(length: number, value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}

function text(value: string): Buffer {
  return Buffer.concat([number(2, value.length), Buffer.from(value, 'latin1')]);
}
