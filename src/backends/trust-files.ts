/** Has the programs of a cell trust the certificates that its gateway makes for hosts whose TLS it opens. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../base/remove-tree.js';
import type { Bind } from '../cell/launchers/bubblewrap/bubblewrap-arguments.js';
import { makeFleeting } from '../cell/launchers/scratch.js';
import { machineRoots, type TrustedByCell } from '../runtime/network/opened/open-tls.js';
import { javaTruststore } from './java-truststore.js';

interface Trust {
  readonly files: readonly Bind[];
  readonly variables: Readonly<Record<string, string>>;
  remove(): void;
}

const inside = '/run/workcell-trust';
const authority = `${inside}/authority.pem`;
const bundle = `${inside}/bundle.pem`;

/** Programs that read the bundle of the system need no variable. */
const systemBundle = '/etc/ssl/certs/ca-certificates.crt';

/** Those that add to what a program trusts, and those that stand in its place. */
const adding = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'];
const replacing = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'AWS_CA_BUNDLE',
  'CARGO_HTTP_CAINFO',
  'NIX_SSL_CERT_FILE',
];

/** `isOwnSystem`: the cell sees the system of this machine. */
export function layTrust(
  { certificate, keyHash }: TrustedByCell,
  { isOwnSystem }: { isOwnSystem: boolean },
): Trust {
  const path = makeFleeting('trust');
  chmodSync(path, 0o755);
  const roots = machineRoots();
  for (const [name, text] of [
    ['authority.pem', certificate],
    ['bundle.pem', `${roots}\n${certificate}`],
    // Chromium reads no bundle. It takes the hash of a key by a flag.
    ['key-hash', keyHash],
    ['java.jks', javaTruststore(roots, certificate)],
  ] as const)
    writeFileSync(join(path, name), text, { mode: 0o644 });
  const system = isOwnSystem && existsSync(systemBundle);
  return {
    files: [
      { source: path, inside },
      ...(system ? [{ source: join(path, 'bundle.pem'), inside: systemBundle }] : []),
    ],
    variables: Object.fromEntries([
      ...adding.map((name) => [name, authority]),
      ...replacing.map((name) => [name, bundle]),
      // Java reads neither; it says on each start that it picked this up.
      ['JAVA_TOOL_OPTIONS', `-Djavax.net.ssl.trustStore=${inside}/java.jks`],
    ]),
    remove: () => removeTree(path),
  };
}
