/** Who is compared, and what each of them is: a comparison of speed alone would be unfair. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PeerEntry {
  readonly name: string;
  readonly version: string;
  /** What is between the commands and the machine. */
  readonly isolates: string;
  /** How it was used here. */
  readonly used: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It needs the Docker Engine of this run. */
  readonly engine?: true;
  /** It starts servers that listen on every address. */
  readonly ownNetwork?: true;
}

const adapter = (file: string) => fileURLToPath(new URL(`adapters/${file}`, import.meta.url));
const node = (file: string, ...options: string[]) => [
  process.execPath,
  '--import',
  import.meta.resolve('tsx'),
  adapter(file),
  ...options,
];

export const floorName = 'nothing';

/** `folder`: where `install` put them. `image`: what the containers are made from. */
export function allPeers(folder: string, image: string, workcell: string): PeerEntry[] {
  const python = (environment: string, file: string) => [
    join(folder, environment, 'bin/python'),
    adapter(file),
  ];
  const backend = (options: object) => node('workcell.ts', JSON.stringify(options));
  return [
    {
      name: floorName,
      version: '',
      isolates: 'the floor: bubblewrap alone for a start, else nothing',
      used: 'a bash at a pipe, `node:fs`, a Jupyter kernel through ZeroMQ',
      argv: node('floor.ts'),
    },
    {
      name: 'Workcell `sandbox`',
      version: workcell,
      isolates:
        'namespaces (files, processes, network), a seccomp filter, limits; files by open directories; a durable record',
      used: 'the library in process, as by default',
      argv: backend({ backend: 'sandbox' }),
    },
    {
      name: 'Workcell `docker`',
      version: workcell,
      isolates: 'a container without a network, a durable record',
      used: 'the library in process; the image of plain Docker',
      argv: backend({ backend: 'docker', image }),
      engine: true,
    },
    {
      name: 'Workcell `cli`',
      version: workcell,
      isolates: 'nothing; a durable record',
      used: 'the library in process',
      argv: backend({ backend: 'cli' }),
    },
    {
      name: 'Docker Engine',
      version: '',
      isolates: 'a container without a network; no record, no limits',
      used: 'its API: a container that waits, one `exec` for each command (no session), archives for files',
      argv: node('docker-api.ts'),
      env: { WORKCELL_BENCH_IMAGE: image },
      engine: true,
    },
    {
      name: '`@anthropic-ai/sandbox-runtime`',
      version: '0.0.78',
      isolates:
        'network, and writing files; it lets commands read the machine; no record, no limits on memory',
      used: 'the library; each command is a sandbox of its own (no session). Its proxies are there once for a process, so a further place is only a folder. Without calls for files, they go through commands',
      argv: node('sandbox-runtime.ts'),
    },
    {
      name: '`swe-rex`',
      version: '1.4.0',
      isolates: 'nothing with its local deployment',
      used: 'LocalDeployment: a bash session and the file calls of its runtime. No code cells',
      argv: python('swe-rex', 'swe_rex.py'),
    },
    {
      name: '`camel-ai`',
      version: '0.2.90',
      isolates: 'nothing here; its Docker backend needs an image that it does not bring',
      used: 'TerminalToolkit without safe mode, FileToolkit, JupyterKernelInterpreter; files are read without it. As in its own container (`CAMEL_RUNTIME`): elsewhere each toolkit first makes a Python environment from the package index',
      env: { CAMEL_RUNTIME: 'true' },
      argv: python('camel', 'camel_local.py'),
    },
    {
      name: '`openhands-ai`',
      version: '0.62.0',
      isolates: 'nothing here; its own runtime puts the same server into a container',
      used: 'its action execution server (V0) on this machine, asked over HTTP; Jupyter as a plugin, no browser',
      argv: python('openhands', 'openhands_v0.py'),
      ownNetwork: true,
    },
    {
      name: '`just-bash`',
      version: '3.4.2',
      isolates:
        'no process at all: a bash written in JavaScript with its own small programs, files in memory',
      used: 'the library. It cannot run other programs, so it is another kind of thing',
      argv: node('just-bash.ts'),
    },
  ];
}

/** Peers that are not compared, with the reason. */
export const absent = [
  ['`microsandbox` 0.7.11', 'starts virtual machines, which need `/dev/kvm`'],
  [
    '`openhands-agent-server` 1.58.2',
    'needs one version of `certifi`, and could not be installed with it where this was measured',
  ],
  [
    'E2B, Daytona, Modal, Runloop',
    'run at their vendors, so the network to them and their machines would be measured, too',
  ],
] as const;
