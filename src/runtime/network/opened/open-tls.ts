/** Opens the TLS of a connection: the gateway is the server for the program in the cell, and a client of the real one. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, rootCertificates, type SecureContext, TLSSocket } from 'node:tls';
import { WorkcellError } from '../../../protocol/errors.js';
import { CellAuthority } from './cell-authority.js';

/** Only what the gateway can read requests of: with HTTP/2 in the list, programs would choose it. */
const ALPNProtocols = ['http/1.1'];
const handshakeMs = 10_000;
const mostSessions = 256;

/** What the programs of a cell have to trust: the certificate in PEM, and the hash of the key that its hosts have. */
export interface TrustedByCell {
  readonly certificate: string;
  readonly keyHash: string;
}

export class TlsOpener {
  readonly #authority = new CellAuthority();
  /** To take up again with the same server, whose certificate was checked by what the machine trusted then and does now. */
  readonly #sessions = new WeakMap<SecureContext, Map<string, Buffer>>();

  get trusted(): TrustedByCell {
    const { certificate, keyHash } = this.#authority;
    return { certificate, keyHash };
  }

  /** Settles when the program has taken the certificate for that name. */
  accept(stream: Duplex, name: string): Promise<TLSSocket> {
    const secureContext = this.#authority.contextFor(name);
    const secure = new TLSSocket(stream as Socket, { isServer: true, secureContext, ALPNProtocols });
    return established(secure, 'secure', stream);
  }

  /** Fails unless this machine trusts the certificate of the server. */
  connect(upstream: Socket, servername: string): Promise<TLSSocket> {
    const secureContext = machineTrust();
    const key = `${servername}:${upstream.remotePort}`;
    const known = this.#sessions.get(secureContext) ?? new Map<string, Buffer>();
    this.#sessions.set(secureContext, known);
    const session = known.get(key);
    const secure = connect({ socket: upstream, servername, secureContext, ALPNProtocols, session });
    secure.on('session', (ticket) => {
      known.set(key, ticket);
      if (known.size > mostSessions) known.delete(known.keys().next().value ?? '');
    });
    return established(secure, 'secureConnect', upstream);
  }
}

function established(
  secure: TLSSocket,
  event: 'secure' | 'secureConnect',
  below: Duplex,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer);
      secure.destroy();
      below.destroy(error);
      reject(error);
    };
    const onClose = () => fail(new Error('the connection ended within the TLS handshake'));
    const timer = setTimeout(() => fail(new Error('the TLS handshake took too long')), handshakeMs);
    secure.once('error', fail).once('close', onClose);
    // As a server it tells of its errors by this name only.
    secure.on('_tlsError', fail);
    secure.once(event, () => {
      clearTimeout(timer);
      secure.off('error', fail).off('close', onClose).off('_tlsError', fail);
      secure.on('error', () => {}).on('_tlsError', () => secure.destroy());
      // What counts connections and bytes watches the one below.
      secure.once('close', () => below.destroy());
      resolve(secure);
    });
  });
}

const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/** Whom this machine trusts, in PEM: its own list, or that of Node where it has none, and what this process was told to. */
export function machineRoots(): string {
  const bundle = systemBundles.map(read).find((text) => text !== '') ?? rootCertificates.join('\n');
  const { SSL_CERT_FILE = '', NODE_EXTRA_CA_CERTS = '' } = process.env;
  const further = [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS].filter((path) => path !== '').map(read);
  return [bundle, ...further].join('\n');
}

let trusted: { readonly of: string; readonly context: SecureContext } | undefined;

/** Made once: reading hundreds of certificates takes long. */
function machineTrust(): SecureContext {
  const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  const of = JSON.stringify([SSL_CERT_FILE, NODE_EXTRA_CA_CERTS]);
  if (trusted?.of !== of)
    trusted = { of, context: createSecureContext({ ca: machineRoots(), minVersion: 'TLSv1.2' }) };
  return trusted.context;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A cell learns at its start which authority to trust. */
export function notOpened(): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    'This cell was started without rules on requests, so its programs trust no certificate of the gateway. Start it with network: { requests: [...] }.',
    { details: { key: 'network.requests' } },
  );
}
