/** Stands in for Daytona: what its SDK 0.218 sends is checked, and what it asks for is done in a sandbox of this machine. */
import { z } from 'zod';
import { readForm } from '../../../src/compat/form.js';
import { Spec } from './specs/spec-check.js';
import { Answer, type Call, gathered, StandIn, type StandInSandbox } from './stand-in.js';

const api = new Spec('daytona-api');
const toolbox = new Spec('daytona-toolbox');

/** `CreateSandbox` of the specification, as far as the backend uses it; anything else is a mistake of ours. */
const createSchema = z.strictObject({
  snapshot: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  labels: z.record(z.string(), z.string()),
  target: z.string().optional(),
  autoStopInterval: z.int().min(0).optional(),
  autoDeleteInterval: z.int().optional(),
  networkBlockAll: z.boolean().optional(),
});
const executeSchema = z.strictObject({
  command: z.string(),
  cwd: z.string().optional(),
  envs: z.record(z.string(), z.string()).optional(),
  timeout: z.number().optional(),
});

export class DaytonaStandIn extends StandIn {
  readonly key = 'a-daytona-key-of-the-test';
  protected readonly portHeader = 'x-daytona-preview-token';

  readonly #ephemeral = new Set<string>();

  /** What Daytona does with a sandbox that nobody uses. */
  async stop(id: string): Promise<void> {
    if (this.#ephemeral.has(id)) return this.end(id);
    Object.assign(this.sandboxes.get(id) ?? {}, { state: 'stopped' });
  }

  protected portToken({ token }: StandInSandbox): string {
    return token;
  }

  protected answer(call: Call): Promise<Answer> {
    const { path } = call;
    const [, inside] = /^\/toolbox\/[^/]+(\/.*)$/.exec(path) ?? [];
    const reply = () => this.#reply(call);
    return inside === undefined
      ? this.held(api, path.replace(/^\/api/, ''), call, reply)
      : this.held(toolbox, inside, call, reply);
  }

  async #reply(call: Call): Promise<Answer> {
    const { method, path } = call;
    if (path.includes('socket.io')) return new Answer(404);
    if (call.headers.authorization !== `Bearer ${this.key}`)
      return new Answer(401, { statusCode: 401, message: 'Invalid credentials' });
    if (method === 'POST' && path === '/api/sandbox') {
      const { labels, autoDeleteInterval } = createSchema.parse(await call.json());
      const made = await this.make(labels, 'creating');
      if (autoDeleteInterval === 0) this.#ephemeral.add(made.id);
      return new Answer(200, this.#view(made));
    }
    if (method === 'GET' && path === '/api/sandbox') {
      const wanted = Object.entries(JSON.parse(call.query.get('labels') ?? '{}') as Record<string, string>);
      const fitting = [...this.sandboxes.values()].filter(({ labels }) =>
        wanted.every(([k, v]) => labels[k] === v),
      );
      return new Answer(200, { items: fitting.map((one) => this.#listed(one)), nextCursor: null });
    }
    const [, prefix, id = '', rest = ''] = /^\/(api\/sandbox|toolbox)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const sandbox = this.sandboxes.get(id);
    if (prefix === undefined || sandbox === undefined)
      return new Answer(404, { statusCode: 404, message: `${method} ${path} not found` });
    return prefix === 'toolbox' ? this.#toolbox(sandbox, rest, call) : this.#control(sandbox, rest, call);
  }

  async #control(sandbox: StandInSandbox, rest: string, { method }: Call): Promise<Answer> {
    if (method === 'GET' && rest === '') {
      // A new one is not there at once.
      sandbox.asked++;
      if (sandbox.state === 'creating') sandbox.state = sandbox.asked > 1 ? 'started' : 'creating';
      return new Answer(200, this.#view(sandbox));
    }
    if (method === 'DELETE' && rest === '') {
      await this.end(sandbox.id);
      return new Answer(200, { ...this.#view(sandbox), state: 'destroyed' });
    }
    if (method === 'POST' && rest === '/pause') {
      await sandbox.runtime.pause();
      sandbox.state = 'paused';
      return new Answer(200, this.#view(sandbox));
    }
    if (method === 'POST' && rest === '/start') {
      await sandbox.runtime.resume();
      sandbox.state = 'started';
      return new Answer(200, this.#view(sandbox));
    }
    if (method === 'POST' && rest === '/last-activity') return new Answer(201, {});
    const [, port] = /^\/ports\/(\d+)\/preview-url$/.exec(rest) ?? [];
    if (method === 'GET' && port !== undefined) {
      const url = `${this.url}/port/${sandbox.id}/${port}`;
      return new Answer(200, { sandboxId: sandbox.id, url, token: sandbox.token });
    }
    return new Answer(404, { statusCode: 404, message: `no ${method} ${rest}` });
  }

  async #toolbox(sandbox: StandInSandbox, rest: string, call: Call): Promise<Answer> {
    if (sandbox.state !== 'started') return new Answer(502, { message: 'The sandbox is starting' });
    if (rest === '/process/execute') {
      const { command } = executeSchema.parse(await call.json());
      const { exitCode, stdout, stderr } = await this.run(sandbox, ['sh', '-c', command]);
      return new Answer(200, { exitCode, result: stdout + stderr });
    }
    if (rest === '/files/bulk-upload') {
      let path = '';
      const form = readForm(call.request, call.headers['content-type'], (reason) => new Error(reason));
      for await (const { name, content } of form) {
        const bytes = await gathered(content);
        if (name === 'files[0].path') path = bytes.toString();
        else if (name === 'files[0].file') await this.upload(sandbox, path, bytes);
        else throw new Answer(400, { message: `unknown part ${name}` });
      }
      return new Answer(200, {});
    }
    return new Answer(404, { message: `no ${rest}` });
  }

  /** A list says less of each. */
  #listed(sandbox: StandInSandbox): object {
    const { env: _env, networkBlockAll: _blocked, ...listed } = this.#view(sandbox);
    return listed;
  }

  #view({ id, labels, state, createdAt }: StandInSandbox) {
    const at = new Date(createdAt).toISOString();
    const sizes = {
      cpu: 1,
      gpu: 0,
      memory: 1,
      disk: 3,
      autoStopInterval: 5,
      networkBlockAll: true,
      public: false,
    };
    const names = { id, name: id, organizationId: 'o', user: 'daytona', target: 'us', env: {}, labels };
    return {
      ...names,
      ...sizes,
      state,
      desiredState: 'started',
      createdAt: at,
      updatedAt: at,
      toolboxProxyUrl: `${this.url}/toolbox`,
    };
  }
}
