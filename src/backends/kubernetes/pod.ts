/** What we ask of the cluster: a pod with as little as an executor and its commands need. */
import { programText } from '../../base/program-text.js';
import type { CellSettings } from '../../cell/server/serve-cell.js';
import { noGpus } from '../gpu-option.js';
import { bundleMount, type ExecutorBundle } from '../images/bundle/executor-bundle.js';
import type { ShippedPlugins } from '../shipped-plugins.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { mergeManifest } from './merge-manifest.js';
import type { PodMarks } from './pod-labels.js';

/** The container that the executor and all commands run in. */
export const cellContainer = 'cell';
/** The container before it, which brings the executor and makes the directories. */
export const executorContainer = 'executor';

const workspaceInside = '/workspace';
const homeInside = '/home/workcell';
const privateInside = '/run/workcell';

/** Plugins from outside this package. */
export const pluginsInside = `${privateInside}/plugins`;

/** Of the loopback of the pod, where a forwarded port leads. */
export const tunnelPort = 47_213;

/** After this long without its owner, or without its settings, a cell ends itself. */
const aloneMs = 120_000;

export interface PodParts {
  readonly name: string;
  readonly options: KubernetesOptions;
  readonly bundle: Pick<ExecutorBundle, 'command' | 'hash'>;
  /** Of the claim that is the workspace. */
  readonly claim: string | undefined;
  readonly marks: PodMarks;
  /** Has the first container try to connect to what the policy must deny. */
  readonly probes?: boolean;
  /** How long it waits for its settings. Default: as long as it lives without its owner. */
  readonly waitMs?: number;
}

export function podName(id: string): string {
  return `workcell-${id}`;
}

export function userOf({ user }: Pick<KubernetesOptions, 'user'>): { uid: number; gid: number } {
  const [uid = 1000, gid = uid] = user.split(':').map(Number);
  return { uid, gid };
}

/** What the executor gets through its standard input, so that no object of the cluster contains the token. */
export function cellSettings(
  { id, options }: { readonly id: string; readonly options: KubernetesOptions },
  token: string,
  shipped: ShippedPlugins,
): CellSettings {
  const { env, keepAlive } = options;
  const files = [...shipped.files].map(([name, content]) => [`${pluginsInside}/${name}`, content]);
  return {
    id,
    socketPath: `${privateInside}/s`,
    token,
    workspace: workspaceInside,
    user: { ...userOf(options), home: homeInside },
    env,
    keepAlive,
    tunnel: { port: tunnelPort, token, ...(!keepAlive && { aloneMs }) },
    plugins: [...shipped.specs],
    ...(files.length > 0 && { files: Object.fromEntries(files) }),
  };
}

export function describePod(parts: PodParts): Readonly<Record<string, unknown>> {
  const { name, marks, options } = parts;
  const ours = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...marks }, spec: describeSpec(parts) };
  return mergeManifest(options.template, ours) as Readonly<Record<string, unknown>>;
}

/** A pod that only tries to connect, where the pods of cells would run. */
export function describeProbe({
  name,
  marks,
  ...parts
}: Omit<PodParts, 'claim'>): Readonly<Record<string, unknown>> {
  const { volumes: _volumes, initContainers: _first, ...spec } = describeSpec({ ...parts, claim: undefined });
  const containers = [firstContainer(parts, connecting(), [])];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...marks },
    spec: { ...spec, activeDeadlineSeconds: 60, containers },
  };
}

function describeSpec({
  options,
  bundle,
  claim,
  probes = false,
  waitMs = aloneMs,
}: Omit<PodParts, 'name' | 'marks'>): Readonly<Record<string, unknown>> {
  const { uid, gid } = userOf(options);
  const hasExecutor = options.executorImage === 'none';
  const { nodeSelector, affinity, tolerations, priorityClass, runtimeClass, serviceAccount } = options;
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostNetwork: false,
    hostPID: false,
    hostIPC: false,
    terminationGracePeriodSeconds: 1,
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(affinity !== undefined && { affinity }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(priorityClass !== undefined && { priorityClassName: priorityClass }),
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
    ...(options.imagePullSecrets.length > 0 && {
      imagePullSecrets: options.imagePullSecrets.map((name) => ({ name })),
    }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid,
      runAsGroup: gid,
      // A volume belongs to root when it is new.
      ...(claim !== undefined && { fsGroup: gid, fsGroupChangePolicy: 'OnRootMismatch' }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
    initContainers: [prepare({ options, bundle }, probes)],
    containers: [
      {
        name: cellContainer,
        image: options.image,
        ...pullPolicy(options),
        command: [...bundle.command(), 'cell', '-', String(waitMs)],
        args: [],
        workingDir: '/',
        // It stays open without an attached client, so that a restart of the API server ends no cell. So
        // its end does not tell that the starter died before it sent the settings; the time limit does.
        stdin: true,
        stdinOnce: false,
        tty: false,
        ...environment(options),
        resources: resources(options),
        securityContext: { ...restricted, readOnlyRootFilesystem: !options.writableSystem },
        volumeMounts: [
          ...(hasExecutor ? [] : [{ name: 'workcell-executor', mountPath: bundleMount, readOnly: true }]),
          { name: 'workcell-private', mountPath: privateInside },
          ...directories
            .filter(({ mountPath }) => claim === undefined || mountPath !== workspaceInside)
            .map(({ mountPath, subPath }) => ({ name: 'workcell-scratch', mountPath, subPath })),
          ...(claim === undefined ? [] : [{ name: 'workcell-workspace', mountPath: workspaceInside }]),
        ],
      },
    ],
    volumes: [
      ...(hasExecutor ? [] : [{ name: 'workcell-executor', emptyDir: {} }]),
      ...(claim === undefined
        ? []
        : [{ name: 'workcell-workspace', persistentVolumeClaim: { claimName: claim } }]),
      { name: 'workcell-private', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      { name: 'workcell-scratch', emptyDir: {} },
    ],
  };
}

/** As the Pod Security level "restricted" wants it. */
const restricted = {
  allowPrivilegeEscalation: false,
  privileged: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** A volume belongs to root. Programs such as git want directories of the user that they run as. */
const directories = [
  { subPath: 'workspace', mountPath: workspaceInside, mode: 0o755 },
  { subPath: 'home', mountPath: homeInside, mode: 0o700 },
  { subPath: 'tmp', mountPath: '/tmp', mode: 0o1777 },
  { subPath: 'var-tmp', mountPath: '/var/tmp', mode: 0o1777 },
] as const;

const scratchThere = '/workcell-scratch';
const executorThere = '/workcell-executor';

/** Makes the directories of the user, and copies the executor of our image to where the cell sees it. */
function prepare(
  { options, bundle }: Pick<PodParts, 'options' | 'bundle'>,
  probes: boolean,
): Readonly<Record<string, unknown>> {
  const copies = options.executorImage !== 'none';
  const make = directories.map(
    ({ subPath, mode }) => `make(${JSON.stringify(`${scratchThere}/${subPath}`)}, ${mode});`,
  );
  const source = [
    "const { chmodSync, cpSync, mkdirSync } = require('node:fs');",
    'const make = (path, mode) => { mkdirSync(path); chmodSync(path, mode); };',
    ...make,
    ...(copies ? [`cpSync('${bundleMount}', '${executorThere}', { recursive: true });`] : []),
    // Afterwards: while it copies it hears no answer.
    ...(probes ? [connecting()] : []),
  ].join('\n');
  return firstContainer({ options, bundle }, source, [
    { name: 'workcell-scratch', mountPath: scratchThere },
    ...(copies ? [{ name: 'workcell-executor', mountPath: executorThere }] : []),
  ]);
}

function connecting(): string {
  return programText('try-connections.cjs', import.meta.url);
}

/** Runs the Node of the executor's image, without the program of the executor. */
function firstContainer(
  { options, bundle }: Pick<PodParts, 'options' | 'bundle'>,
  source: string,
  volumeMounts: readonly unknown[],
): Readonly<Record<string, unknown>> {
  const { image, executorImage } = options;
  return {
    name: executorContainer,
    image: executorImage === 'none' ? image : executorImage,
    ...pullPolicy(options),
    command: [...bundle.command().slice(0, -1), '-e', source],
    args: [],
    workingDir: '/',
    env: [{ name: 'NODE_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
    resources: { requests: { cpu: '10m', memory: '32Mi' } },
    securityContext: { ...restricted, readOnlyRootFilesystem: true },
    volumeMounts,
  };
}

function pullPolicy({ imagePullPolicy }: KubernetesOptions): { imagePullPolicy?: string } {
  return imagePullPolicy === undefined ? {} : { imagePullPolicy };
}

function environment({ envFromSecrets, envFromConfigMaps, gpu }: KubernetesOptions): Record<string, unknown> {
  const from = [
    ...envFromSecrets.map((name) => ({ secretRef: { name } })),
    ...envFromConfigMaps.map((name) => ({ configMapRef: { name } })),
  ];
  return {
    ...(from.length > 0 && { envFrom: from }),
    // A cluster gives GPUs out under any name, and those of NVIDIA come with a variable of their own.
    ...(gpu === undefined && { env: [noGpus] }),
  };
}

/** So little that a small cluster takes many, and enough for the executor to start anywhere. */
const leastRequests = { cpus: 0.05, memoryBytes: 134_217_728 } as const;

/** Room for the executor that the pod copies to its disk: it counts as what the cell writes. */
export const executorBytes = 167_772_160;

function resources({ limits, requests, gpu, executorImage }: KubernetesOptions): Record<string, unknown> {
  const gpus = gpu === undefined ? {} : { [gpu.resource]: String(gpu.count) };
  const { diskBytes } = limits;
  const ours = executorImage === 'none' ? 0 : executorBytes;
  const whole = { ...limits, ...(diskBytes !== undefined && { diskBytes: diskBytes + ours }) };
  const most = { ...quantities(whole), ...gpus };
  // The cluster refuses a pod that asks for more than its limits.
  const least = {
    cpus: Math.min(leastRequests.cpus, limits.cpus ?? Number.POSITIVE_INFINITY),
    memoryBytes: Math.min(leastRequests.memoryBytes, limits.memoryBytes ?? Number.POSITIVE_INFINITY),
  };
  return {
    requests: { ...quantities({ ...least, ...requests }), ...gpus },
    ...(Object.keys(most).length > 0 && { limits: most }),
  };
}

function quantities({ memoryBytes, cpus, diskBytes }: KubernetesOptions['limits']): Record<string, string> {
  return {
    ...(memoryBytes !== undefined && { memory: String(memoryBytes) }),
    ...(cpus !== undefined && { cpu: `${Math.max(1, Math.round(cpus * 1000))}m` }),
    ...(diskBytes !== undefined && { 'ephemeral-storage': String(diskBytes) }),
  };
}
