/**
 * Stands in for Runloop: what its SDK 1.32 sends is checked, and what it asks for is done in a sandbox of this machine. Runloop
 * publishes no specification, so the compiler holds the answers to the types of that SDK.
 */
import type Runloop from '@runloop/api-client';
import { z } from 'zod';
import { readForm } from '../../../src/compat/form.js';
import { Answer, type Call, gathered, StandIn, type StandInSandbox } from './stand-in.js';

type Devbox = Runloop.DevboxView;

/** `DevboxCreateParams`, as far as the backend uses them; anything else is refused. */
const createSchema = z.strictObject({
  name: z.string(),
  blueprint_name: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  launch_parameters: z.strictObject({
    keep_alive_time_seconds: z.int().positive(),
    network_policy_id: z.string().optional(),
  }),
  tunnel: z.strictObject({ auth_mode: z.enum(['open', 'authenticated']) }),
});
const executeSchema = z.strictObject({
  command: z.string(),
  command_id: z.string(),
  optimistic_timeout: z.number().nullish(),
});

export class RunloopStandIn extends StandIn {
  readonly key = 'a-runloop-key-of-the-test';
  protected readonly portHeader = 'x-runloop-tunnel-authorization';

  /** Where ports are, as the backend is told. */
  get tunnelUrl(): string {
    return `${this.url}/port/{key}/{port}`;
  }

  protected portToken({ token }: StandInSandbox): string {
    return `Bearer ${token}`;
  }

  protected async answer(call: Call): Promise<Answer> {
    const { method, path } = call;
    if (call.headers.authorization !== `Bearer ${this.key}`)
      return new Answer(401, { message: 'Unauthorized' });
    if (method === 'POST' && path === '/v1/devboxes') {
      const { metadata } = createSchema.parse(await call.json());
      return new Answer(200, this.#view(await this.make(metadata, 'provisioning')));
    }
    if (method === 'GET' && path === '/v1/devboxes') {
      const all = [...this.sandboxes.values()].map((one) => this.#view(one));
      const listed: Runloop.DevboxListView = { devboxes: all, has_more: false, total_count: all.length };
      return new Answer(200, listed);
    }
    const [, id = '', rest = ''] = /^\/v1\/devboxes\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return new Answer(404, { message: 'devbox not found' });
    return this.#devbox(sandbox, rest, call);
  }

  async #devbox(sandbox: StandInSandbox, rest: string, call: Call): Promise<Answer> {
    if (rest === '') return new Answer(200, this.#view(sandbox));
    if (rest === '/wait_for_status') {
      // Not there at once: the first answer says that it is to be asked for again.
      if (sandbox.asked++ === 0)
        return new Answer(408, { message: 'not yet' }, { 'x-should-retry': 'false' });
      sandbox.state = 'running';
      return new Answer(200, this.#view(sandbox));
    }
    if (rest === '/shutdown') {
      await this.end(sandbox.id);
      const ended: Devbox = { ...this.#view(sandbox), status: 'shutdown' };
      return new Answer(200, ended);
    }
    if (rest === '/keep_alive') return new Answer(200, {});
    if (rest === '/execute') {
      const { command, command_id } = executeSchema.parse(await call.json());
      const { exitCode, stdout, stderr } = await this.run(sandbox, ['sh', '-c', command]);
      const ended: Runloop.DevboxAsyncExecutionDetailView = {
        devbox_id: sandbox.id,
        execution_id: command_id,
        status: 'completed',
        exit_status: exitCode,
        stdout,
        stderr,
      };
      return new Answer(200, ended);
    }
    if (rest === '/upload_file') {
      let path = '';
      let content: Buffer | undefined;
      const form = readForm(call.request, call.headers['content-type'], (reason) => new Error(reason));
      for await (const part of form) {
        const bytes = await gathered(part.content);
        if (part.name === 'path') path = bytes.toString();
        else if (part.name === 'file') content = bytes;
        else throw new Answer(400, { message: `unknown part ${part.name}` });
      }
      if (path === '' || content === undefined)
        throw new Answer(400, { message: 'path and file are needed' });
      await this.upload(sandbox, path, content);
      return new Answer(200, {});
    }
    return new Answer(404, { message: `no ${rest}` });
  }

  #view({ id, labels, state, createdAt, token }: StandInSandbox): Devbox {
    const tunnel: Runloop.TunnelView = {
      tunnel_key: id,
      auth_token: token,
      auth_mode: 'authenticated',
      create_time_ms: createdAt,
      http_keep_alive: true,
      wake_on_http: false,
    };
    const times = { create_time_ms: createdAt, end_time_ms: null };
    return {
      id,
      status: state as Devbox['status'],
      metadata: labels,
      ...times,
      tunnel,
      capabilities: [],
      state_transitions: [],
      launch_parameters: {},
    };
  }
}
