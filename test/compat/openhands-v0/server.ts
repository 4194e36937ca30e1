/** A server on a scratch directory, driven without a port. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { createExecutor } from '../../../src/cell/executor/create-executor.js';
import { hostEnvironment } from '../../../src/cell/launchers/host-environment.js';
import { createHostLauncher } from '../../../src/cell/launchers/host-launcher.js';
import { type LoadedPlugin, loadPlugins } from '../../../src/cell/plugins/load-plugins.js';
import { withPlugins } from '../../../src/cell/plugins/plugin-host.js';
import type { CommandMetadata } from '../../../src/compat/openhands-v0/observations.js';
import { openHandsPlugins } from '../../../src/compat/openhands-v0/openhands-plugins.js';
import {
  createOpenHandsApp,
  type OpenHandsOptions,
} from '../../../src/compat/openhands-v0/openhands-v0-app.js';
import type { Executor } from '../../../src/protocol/index.js';

const plugins = await loadPlugins(openHandsPlugins({ agentSkills: true }));

interface TestObservation {
  readonly observation: string;
  readonly content: string;
  readonly extras: Record<string, unknown> & { metadata: CommandMetadata };
  readonly success?: boolean;
  readonly message: string;
}

export interface TestServer extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly directory: string;
  path(name: string): string;
  request(options: InjectOptions): Promise<{ status: number; body: unknown; text: string; bytes: Buffer }>;
  /** Posts an action and gives the observation, which must be one. */
  act(action: string, args: Record<string, unknown>, timeout?: number): Promise<TestObservation>;
  run(command: string, args?: Record<string, unknown>, timeout?: number): Promise<TestObservation>;
}

/** File verbs and commands reach the whole machine. */
export function machineExecutor(directory: string, known: readonly LoadedPlugin[] = []): Executor {
  const host = createHostLauncher({ workspace: directory, environment: hostEnvironment({}) });
  const launcher = { ...host, files: { root: '/', mount: '/', workspace: directory } };
  return withPlugins(createExecutor(launcher), launcher, known);
}

export function startServer(options: Partial<OpenHandsOptions> = {}): TestServer {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'openhands-v0-')));
  return serve(machineExecutor(directory, plugins), directory, options);
}

export function serve(
  executor: Executor,
  directory: string,
  options: Partial<OpenHandsOptions> = {},
): TestServer {
  const app = createOpenHandsApp(executor, { workingDirectory: directory, ...options });

  async function request(inject: InjectOptions) {
    const response = await app.inject(inject);
    const isJson = response.headers['content-type']?.toString().includes('json');
    return {
      status: response.statusCode,
      body: isJson ? (response.json() as unknown) : undefined,
      text: response.body,
      bytes: response.rawPayload,
    };
  }

  async function act(action: string, args: Record<string, unknown>, timeout?: number) {
    const payload = { action: { action, args, ...(timeout !== undefined && { timeout }) } };
    const { status, body, text } = await request({ method: 'POST', url: '/execute_action', payload });
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return body as TestObservation;
  }

  return {
    app,
    directory,
    path: (name) => join(directory, name),
    request,
    act,
    run: (command, args = {}, timeout) => act('run', { command, ...args }, timeout),
    async [Symbol.asyncDispose]() {
      await app.close();
      await executor.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
