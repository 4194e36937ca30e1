/**
 * Certificates for the hosts of one cell whose TLS the gateway opens. The authority is the cell's own, its key never leaves
 * this process, and nobody but the programs of that cell trusts it.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { bitString, integer, objectId, octetString, sequence, tagged, time, utf8, yes } from './der.js';

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const day = 86_400_000;
const validMs = 365 * day;
/** A cell that may reach any name below a wildcard can ask for certificates without end. */
const mostContexts = 256;

export class CellAuthority {
  /** In PEM. */
  readonly certificate: string;
  readonly #own = newKeys();
  /** One for all hosts: making a key takes longer than signing. */
  readonly #leaf = newKeys();
  readonly #contexts = new Map<string, SecureContext>();

  constructor() {
    const usage = bitString(Buffer.from([0x06]), 1);
    this.certificate = this.#certify(this.#own.publicKey, 'Workcell, for one cell', [
      extension('2.5.29.19', sequence(yes), true),
      extension('2.5.29.15', usage, true),
    ]);
  }

  /** The key of all these certificates, as browsers write it: SHA-256 in base64. */
  get keyHash(): string {
    return createHash('sha256').update(spkiOf(this.#leaf.publicKey)).digest('base64');
  }

  contextFor(name: string): SecureContext {
    const known = this.#contexts.get(name);
    if (known !== undefined) return known;
    const certificate = this.#certify(this.#leaf.publicKey, 'Workcell gateway', [
      extension('2.5.29.19', sequence(), true),
      extension('2.5.29.15', bitString(Buffer.from([0x80]), 7), true),
      extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'))),
      extension('2.5.29.17', sequence(tagged(0x82, Buffer.from(name, 'latin1')))),
    ]);
    const key = this.#leaf.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const context = createSecureContext({ key, cert: certificate, minVersion: 'TLSv1.2' });
    this.#contexts.set(name, context);
    if (this.#contexts.size > mostContexts) this.#contexts.delete(this.#contexts.keys().next().value ?? '');
    return context;
  }

  #certify(publicKey: KeyObject, subject: string, extensions: readonly Buffer[]): string {
    const algorithm = sequence(objectId('1.2.840.10045.4.3.2'));
    const now = Date.now();
    const body = sequence(
      tagged(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      algorithm,
      nameOf('Workcell, for one cell'),
      // Clocks differ.
      sequence(time(new Date(now - day)), time(new Date(now + validMs))),
      nameOf(subject),
      spkiOf(publicKey),
      tagged(
        0xa3,
        sequence(
          ...extensions,
          extension('2.5.29.14', octetString(keyId(publicKey))),
          extension('2.5.29.35', sequence(tagged(0x80, keyId(this.#own.publicKey)))),
        ),
      ),
    );
    const signature = sign('sha256', body, this.#own.privateKey);
    const certificate = sequence(body, algorithm, bitString(signature));
    const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function newKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function nameOf(text: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId('2.5.4.3'), utf8(text))));
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1').update(spkiOf(key)).digest();
}

function extension(id: string, content: Buffer, isCritical = false): Buffer {
  return sequence(objectId(id), ...(isCritical ? [yes] : []), octetString(content));
}
