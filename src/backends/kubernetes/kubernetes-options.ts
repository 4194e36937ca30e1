/** The options of the kubernetes backend. */
import { z } from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { codePath } from '../../protocol/config-marks.js';

/** A part of a manifest, passed on as it is: the cluster checks it. */
const manifestPart = z.record(z.string(), z.unknown());

const name = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a name of Kubernetes: lower case, digits, - and .');

const port = z.int().min(1).max(65_535);

const resourcesSchema = z.strictObject({
  memoryBytes: z.int().min(67_108_864).optional(),
  /** Processors' worth of time; may be a fraction. */
  cpus: z.number().positive().optional(),
  /** All that the cell writes: its workspace where that is not a volume, /tmp, the home directory, its log. */
  diskBytes: z.int().min(1_048_576).optional(),
});

const volumeSchema = z.strictObject({
  /** An existing claim, or a name for a new one that the next cell with this name uses again. */
  claim: name.optional(),
  /** As Kubernetes writes it, such as `10Gi`. */
  size: z
    .string()
    .regex(/^\d+(\.\d+)?([EPTGMk]i?|m)?$/, 'must be a quantity such as 10Gi')
    .default('2Gi'),
  /** Default: the storage class that the cluster has as its default. */
  storageClass: z.string().optional(),
  accessMode: z
    .enum(['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod', 'ReadOnlyMany'])
    .default('ReadWriteOnce'),
  /** The claim stays when the cell ends. One that existed before always stays. */
  keep: z.boolean().default(false),
});

const ingressSchema = z.strictObject({
  /** Each port gets the host `<id>-<port>.<domain>`. */
  domain: z.string().min(1),
  className: z.string().min(1).optional(),
  tlsSecret: name.optional(),
  annotations: z.record(z.string(), z.string()).default({}),
});

export const kubernetesOptions = {
  /** Any image with bash in it whose C library is glibc. */
  image: z.string().min(1).default('debian:bookworm'),
  /** Path of a kubeconfig. Default: as kubectl finds one, and in a pod its service account. */
  kubeconfig: codePath().optional(),
  /** Of the kubeconfig. Default: its current one. */
  context: z.string().min(1).optional(),
  /** Default: that of the context. */
  namespace: name.max(63).optional(),
  /** An image with the executor at /opt/workcell, as `workcell images build` makes it. `none`: the image of the cell has it. */
  executorImage: z.string().min(1).default('workcell-executor:latest'),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  /** Names of secrets. */
  imagePullSecrets: z.array(name).default([]),
  /** `none`: a policy of the namespace denies all, where the cluster enforces policies. `open`: what the cluster gives. */
  network: z.enum(['none', 'open']).default('none'),
  /** The most that the cell may use. */
  limits: resourcesSchema.default({}),
  /** What the scheduler keeps free for it. Default: a little. */
  requests: resourcesSchema.default({}),
  /** GPUs, by the name of the resource that the cluster gives them out as. */
  gpu: z
    .strictObject({ count: z.int().min(1).max(1024), resource: z.string().min(1).default('nvidia.com/gpu') })
    .optional(),
  /** A volume of the cluster as the workspace. Default: a directory that goes with the pod. */
  volume: volumeSchema.optional(),
  env: environmentSchema.default({}),
  /** Names of secrets whose entries become variables of the commands. */
  envFromSecrets: z.array(name).default([]),
  /** Names of config maps whose entries become variables of the commands. */
  envFromConfigMaps: z.array(name).default([]),
  /** Ports of the cell that get a service of the cluster. */
  ports: z.array(port).default([]),
  /** An ingress for these ports. */
  ingress: ingressSchema.optional(),
  nodeSelector: z.record(z.string(), z.string()).default({}),
  affinity: manifestPart.optional(),
  tolerations: z.array(manifestPart).default([]),
  priorityClass: name.optional(),
  /** Such as `gvisor` or `kata`, where the cluster has it. */
  runtimeClass: name.optional(),
  /** Of the pod. The pod never gets its token. */
  serviceAccount: name.optional(),
  /** The user that everything runs as, `uid` or `uid:gid`; not root. */
  user: z
    .string()
    .regex(/^[1-9]\d{0,8}(:\d{1,9})?$/, 'must be numbers such as 1000 or 1000:1000, not root')
    .default('1000:1000'),
  /** Makes the image's system writable, too; changes disappear with the cell. */
  writableSystem: z.boolean().default(false),
  labels: z.record(z.string().min(1), z.string()).default({}),
  annotations: z.record(z.string().min(1), z.string()).default({}),
  /** A pod to merge ours into: `metadata` and `spec` of a manifest. Its container `cell` is the cell's own. */
  template: z.strictObject({ metadata: manifestPart.optional(), spec: manifestPart.optional() }).default({}),
  /** Takes a template that weakens the isolation of the cell. The facts then say so. */
  allowWeakTemplate: z.boolean().default(false),
  /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
  keepAlive: z.boolean().default(false),
  /** How long a pod may take until it runs, with its scheduling, its image and its volume. */
  startTimeoutMs: z.int().min(1000).max(3_600_000).default(180_000),
  /** Keeps cells of this shape ready, so that the next ones start at once. Not with volume.claim. */
  pool: z
    .strictObject({
      size: z.int().min(1).max(100),
      /** The pods wait in the cluster for whoever starts a cell of this shape next. Else they are this process's. */
      shared: z.boolean().default(false),
    })
    .optional(),
};

export type KubernetesOptions = z.output<z.ZodObject<typeof kubernetesOptions>>;
