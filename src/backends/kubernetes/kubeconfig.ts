/** Where a cluster is, and who we are there: from a kubeconfig, or from the files that a pod gets. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { parse } from 'yaml';
import { z } from 'zod';
import { readTrusted, UntrustedPathError } from '../../base/trusted-path.js';
import { describeIssues, WorkcellError } from '../../protocol/index.js';
import { type ExecPlugin, execPluginSchema, runExecPlugin } from './exec-plugin.js';

/** Where the cells are, as the options have it. */
export interface ClusterPlace {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: SecureContextOptions & { rejectUnauthorized?: boolean; servername?: string };
  /** Where a program gave them: has it run again for the next request. */
  readonly drop?: (() => void) | undefined;
}

export interface Cluster {
  readonly server: URL;
  /** Of the context, where it names one. */
  readonly namespace: string | undefined;
  /** What a request carries now. Tokens change, so ask for each one. */
  credentials(): Promise<Credentials>;
}

const clusterSchema = z.looseObject({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
  'proxy-url': z.string().optional(),
});

const userSchema = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  as: z.string().optional(),
  'as-groups': z.array(z.string()).optional(),
  'auth-provider': z.unknown().optional(),
  exec: execPluginSchema.nullish(),
});

const contextSchema = z.looseObject({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().optional(),
});

const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const configSchema = z.looseObject({
  'current-context': z.string().optional(),
  clusters: listOf(z.looseObject({ name: z.string(), cluster: clusterSchema })),
  users: listOf(z.looseObject({ name: z.string(), user: userSchema.nullish() })),
  contexts: listOf(z.looseObject({ name: z.string(), context: contextSchema })),
});

/** A part of a file, and the directory that its paths start at. */
interface Found<Item> {
  readonly item: Item;
  readonly directory: string;
}

/** Some name hundreds of clusters, with their certificates. */
const largestConfig = 16_777_216;

const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Searches as kubectl does: the named file, those of KUBECONFIG, ~/.kube/config, and in a pod its service account. A
 * kubeconfig names programs to run and whom to trust, so it and its files count only where no other user can write.
 */
export function findCluster({ kubeconfig, context }: ClusterPlace): Cluster {
  const { files, isNamed } = search(kubeconfig);
  const present = files.filter((path) => existsSync(path));
  if (present.length > 0) return fromFiles(present, context);
  if (!isNamed && isInPod()) return fromAccount();
  throw new WorkcellError(
    'backend-unavailable',
    `There is no kubeconfig at ${files.join(', ')}, and this program does not run in a pod. Name one with the option kubeconfig or the variable KUBECONFIG.`,
    { details: { files } },
  );
}

/** Somebody names a kubeconfig, or there is one at the usual place, or this program runs in a pod. */
export function knowsCluster({ kubeconfig, context }: ClusterPlace): boolean {
  const { files, isNamed } = search(kubeconfig);
  return isNamed || context !== undefined || isInPod() || files.some((path) => existsSync(path));
}

function search(kubeconfig: string | undefined): { files: string[]; isNamed: boolean } {
  const listed = (process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const named = kubeconfig !== undefined ? [kubeconfig] : listed;
  if (named.length === 0) return { files: [join(homedir(), '.kube', 'config')], isNamed: false };
  return { files: named.map((path) => resolve(path)), isNamed: true };
}

function isInPod(): boolean {
  return process.env.KUBERNETES_SERVICE_HOST !== undefined;
}

function fromFiles(paths: readonly string[], wanted: string | undefined): Cluster {
  const configs = paths.map((path) => ({ config: readConfig(path), directory: dirname(path), path }));
  // When several have the same name, the first counts.
  const find = <Item>(
    pick: (each: (typeof configs)[number]) => Item | undefined,
  ): Found<Item> | undefined => {
    for (const each of configs) {
      const item = pick(each);
      if (item !== undefined) return { item, directory: each.directory };
    }
    return undefined;
  };
  const where = paths.join(', ');
  const name = wanted ?? find(({ config }) => config['current-context'] || undefined)?.item;
  if (name === undefined) throw refusal(`${where} has no current context. Name one with the option context.`);
  const context = find(({ config }) => config.contexts.find((each) => each.name === name))?.item.context;
  if (context === undefined) {
    const known = configs.flatMap(({ config }) => config.contexts.map((each) => each.name));
    throw refusal(`${where} has no context "${name}". It has: ${known.join(', ') || 'none'}.`);
  }
  const cluster = find(({ config }) => config.clusters.find((each) => each.name === context.cluster));
  if (cluster === undefined) throw refusal(`${where} has no cluster "${context.cluster}".`);
  const user = find(({ config }) => config.users.find((each) => each.name === context.user));
  return {
    server: serverOf(cluster.item.cluster, where),
    namespace: context.namespace,
    credentials: credentialsOf(
      { item: cluster.item.cluster, directory: cluster.directory },
      { item: user?.item.user ?? {}, directory: user?.directory ?? '' },
      where,
    ),
  };
}

function readConfig(path: string): z.output<typeof configSchema> {
  let content: unknown;
  try {
    content = parse(readTrusted(path, { maxBytes: largestConfig }).text);
  } catch (cause) {
    throw refusal(`The kubeconfig ${path} cannot be read: ${(cause as Error).message}.`, cause);
  }
  const result = configSchema.safeParse(content);
  if (result.success) return result.data;
  throw refusal(`The kubeconfig ${path} is not valid: ${describeIssues(result.error)}.`);
}

function serverOf(cluster: z.output<typeof clusterSchema>, where: string): URL {
  if (cluster['proxy-url'] !== undefined)
    throw refusal(`${where} wants a proxy for its cluster, which is not supported. Leave out proxy-url.`);
  if (URL.canParse(cluster.server) && /^https?:/.test(cluster.server)) return new URL(cluster.server);
  throw refusal(`${where} has "${cluster.server}" as a server, which is not an address.`);
}

function credentialsOf(
  { item: cluster, directory: near }: Found<z.output<typeof clusterSchema>>,
  { item: user, directory }: Found<z.output<typeof userSchema>>,
  where: string,
): () => Promise<Credentials> {
  if (user['auth-provider'] !== undefined)
    throw refusal(
      `${where} uses an auth-provider, which Kubernetes has dropped. Use an exec plugin instead.`,
    );
  const ca = content(near, cluster['certificate-authority'], cluster['certificate-authority-data']);
  const servername = cluster['tls-server-name'];
  const trust = {
    ...(ca !== undefined && { ca }),
    ...(servername !== undefined && { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
  };
  const groups = user['as-groups'] ?? [];
  const impersonation = {
    ...(user.as !== undefined && { 'impersonate-user': user.as }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
  };
  const plugin = user.exec ?? undefined;
  return async () => {
    const given = plugin === undefined ? own(user, directory) : await fromPlugin(plugin, directory, cluster);
    const { token, cert, key, drop } = given;
    const basic = `${user.username}:${user.password ?? ''}`;
    const authorization =
      token !== undefined
        ? `Bearer ${token}`
        : user.username !== undefined
          ? `Basic ${Buffer.from(basic).toString('base64')}`
          : undefined;
    return {
      headers: { ...impersonation, ...(authorization !== undefined && { authorization }) },
      tls: { ...trust, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
      drop,
    };
  };
}

interface Identity {
  readonly token?: string | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly drop?: (() => void) | undefined;
}

function own(user: z.output<typeof userSchema>, directory: string): Identity {
  // Whoever rotates a token writes the file again, so read it each time.
  const file =
    user.tokenFile === undefined ? undefined : readNamed(directory, user.tokenFile).toString('utf8').trim();
  return {
    token: file ?? user.token,
    cert: content(directory, user['client-certificate'], user['client-certificate-data']),
    key: content(directory, user['client-key'], user['client-key-data']),
  };
}

async function fromPlugin(
  plugin: ExecPlugin,
  directory: string,
  cluster: z.output<typeof clusterSchema>,
): Promise<Identity> {
  const { token, clientCertificateData, clientKeyData, drop } = await runExecPlugin(plugin, directory, {
    server: cluster.server,
    'certificate-authority-data': cluster['certificate-authority-data'],
  });
  return { token, cert: clientCertificateData, key: clientKeyData, drop };
}

function content(directory: string, path: string | undefined, data: string | undefined): Buffer | undefined {
  if (data !== undefined) return Buffer.from(data, 'base64');
  return path === undefined ? undefined : readNamed(directory, path);
}

/** A relative path starts at the directory of the kubeconfig. */
function readNamed(directory: string, path: string): Buffer {
  try {
    return Buffer.from(readTrusted(resolve(directory, path)).text);
  } catch (cause) {
    throw refusal(`The kubeconfig names ${path}, which cannot be read: ${(cause as Error).message}.`, cause);
  }
}

/** What a pod gets with its service account. */
function fromAccount(): Cluster {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  const file = (name: string) => readFileSync(join(accountDirectory, name));
  const ca = file('ca.crt');
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: existsSync(join(accountDirectory, 'namespace'))
      ? file('namespace').toString('utf8').trim()
      : undefined,
    // The kubelet replaces the token long before it ends.
    credentials: async () => ({
      headers: { authorization: `Bearer ${file('token').toString('utf8').trim()}` },
      tls: { ca },
    }),
  };
}

function refusal(message: string, cause?: unknown): WorkcellError {
  const code = cause instanceof UntrustedPathError ? 'config-untrusted' : 'invalid-config';
  return new WorkcellError(code, message, { cause });
}
