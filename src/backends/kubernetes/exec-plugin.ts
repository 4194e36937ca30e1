/** Programs that a kubeconfig names for credentials: those of clouds, mostly. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findProgram, hostEnvironment, hostPath } from '../../base/find-program.js';
import { reachTrusted, UntrustedPathError } from '../../base/trusted-path.js';
import { WorkcellError } from '../../protocol/index.js';

export const execPluginSchema = z.looseObject({
  apiVersion: z.string(),
  command: z.string(),
  args: z
    .array(z.string())
    .nullish()
    .transform((args) => args ?? []),
  env: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .nullish()
    .transform((env) => env ?? []),
  installHint: z.string().optional(),
  provideClusterInfo: z.boolean().optional(),
});

export type ExecPlugin = z.output<typeof execPluginSchema>;

const answerSchema = z.looseObject({
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

type Status = z.output<typeof answerSchema>['status'];

const runMs = 60_000;
const earlyMs = 30_000;
const known = new Map<string, { status: Promise<Status>; until: number }>();

export interface PluginAnswer extends Status {
  /** The cluster refuses it, so the next one runs the program again. */
  drop(): void;
}

/** Runs it when there is no answer yet, or when the previous one is about to expire. */
export async function runExecPlugin(
  plugin: ExecPlugin,
  directory: string,
  cluster: Readonly<Record<string, string | undefined>>,
): Promise<PluginAnswer> {
  const key = JSON.stringify([plugin, directory, cluster]);
  const before = known.get(key);
  const isFresh = before !== undefined && before.until - earlyMs > Date.now();
  // Without a time in its answer it counts until the cluster refuses it.
  const entry = isFresh
    ? before
    : { status: run(plugin, directory, cluster), until: Number.POSITIVE_INFINITY };
  known.set(key, entry);
  const drop = () => {
    // Another request that was refused may have dropped it already.
    if (known.get(key) === entry) known.delete(key);
  };
  try {
    const status = await entry.status;
    const { expirationTimestamp } = status;
    if (expirationTimestamp !== undefined) entry.until = Date.parse(expirationTimestamp) || 0;
    return { ...status, drop };
  } catch (error) {
    drop();
    throw error;
  }
}

async function run(
  plugin: ExecPlugin,
  directory: string,
  cluster: Readonly<Record<string, string | undefined>>,
): Promise<Status> {
  const { apiVersion, command, args, env, installHint = '' } = plugin;
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo === true && { cluster }) },
  };
  try {
    const program = programOf(command, directory);
    reachTrusted(program)[Symbol.dispose]();
    const { stdout } = await promisify(execFile)(program, args, {
      timeout: runMs,
      env: {
        ...hostEnvironment(),
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: JSON.stringify(info),
      },
    });
    return answerSchema.parse(JSON.parse(stdout)).status;
  } catch (cause) {
    const said = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new WorkcellError(
      cause instanceof UntrustedPathError ? 'config-untrusted' : 'backend-unavailable',
      `The program ${command}, which the kubeconfig names for credentials, gave none: ${said.slice(0, 500)}. ${installHint}`.trim(),
      { details: { command }, cause },
    );
  }
}

/** A name with a slash starts at the directory of its file; any other is in PATH, but never in a project. */
function programOf(command: string, directory: string): string {
  const found = findProgram(command, hostPath(), directory);
  if (found !== undefined) return found;
  throw new Error(command.includes('/') ? 'it is not there' : 'it is not in PATH outside of a project');
}
