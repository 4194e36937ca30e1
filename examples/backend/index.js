/**
 * A backend as a separate package: cells in Linux namespaces that `unshare` makes and `nsenter` enters. For root.
 * It separates and does not isolate: commands are root and reach the files of the machine, so whoever wants out gets
 * out. Its tier is therefore `none`, and it claims to enforce no fact. For code that you do not trust, use `sandbox`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import * as kit from 'workcell/backends';
import { z } from 'zod';

export default kit.defineBackend({
  type: 'nsenter',
  options: {
    workspace: z.string().min(1).optional(),
    env: z.record(z.string(), z.string()).default({}),
    network: z.enum(['none', 'machine']).default('none'),
    keepAlive: z.boolean().default(false),
    /** Each cell has a directory below it: its socket, its lease, and what it takes to find it again. */
    directory: z.string().min(1).default('/run/workcell-nsenter'),
  },
  place: ['directory'],

  async probe() {
    const available = process.getuid?.() === 0;
    const summary = available ? 'Separates cells by namespaces, and does not isolate.' : 'Needs root.';
    return { available, tier: 'none', summary, advice: [] };
  },

  async start({ workspace: given, env, network, keepAlive, directory }, context) {
    const named = given === undefined ? undefined : kit.openWorkspace(given).path;
    const home = join(directory, context.id);
    for (const name of ['workspace', 't']) fs.mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
    const lease = keepAlive ? await kit.takeLease(context.id, home) : undefined;
    const workspace = named ?? fs.realpathSync(join(home, 'workspace'));
    const state = { token: kit.newToken(), workspace, network };
    try {
      Object.assign(state, await makeNamespaces(network, keepAlive));
      const executor = { workspace, env, keepAlive, socketPath: join(home, 's'), temporary: join(home, 't') };
      await kit.startExecutor(
        {
          argv: ['nsenter', '--target', String(state.pid), '--all', '--', ...kit.executorCommand()],
          settings: { ...executor, token: state.token },
          directory: home,
          logFile: keepAlive ? join(home, 'log') : undefined,
        },
        context,
      );
      if (keepAlive) fs.writeFileSync(join(home, 'state.json'), JSON.stringify(state), { mode: 0o600 });
      return await connect(home, state, lease, context);
    } catch (error) {
      await remove(home, state);
      lease?.release();
      throw error;
    }
  },

  async attach(id, { directory }, context) {
    const home = join(directory, id);
    const state = readState(home);
    if (state === undefined)
      throw new kit.WorkcellError('cell-not-found', `There is no cell "${id}" in ${directory}.`);
    const lease = await kit.takeLease(id, home);
    try {
      return await connect(home, state, lease, context);
    } catch (error) {
      if (!isRunning(state)) await remove(home, state);
      lease.release();
      throw error;
    }
  },

  async list({ directory }) {
    if (!fs.existsSync(directory)) return [];
    const homes = fs.readdirSync(directory).map((id) => ({ id, home: join(directory, id) }));
    const describe = async ({ id, home }) => {
      const state = readState(home);
      const startedAt = fs.statSync(join(home, 'state.json')).mtime;
      const status = isRunning(state) ? 'running' : 'lost';
      const { workspace } = state;
      return { id, status, startedAt, workspace, isolation: 'none', heldBy: await kit.leaseHolder(home) };
    };
    return Promise.all(homes.filter(({ home }) => readState(home) !== undefined).map(describe));
  },
});

/**
 * Starts the first process of new namespaces; when it ends, the kernel ends all others in them. It ends with its
 * input, so with this process, unless you keep the cell.
 */
async function makeNamespaces(network, keepAlive) {
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', ...(network === 'none' ? ['--net'] : [])];
  const prepare = network === 'none' ? 'ip link set lo up && ' : '';
  const source = `${prepare}echo ready; exec >/dev/null; ${keepAlive ? 'sleep infinity & wait' : 'cat'}`;
  const argv = [...namespaces, '--fork', '--mount-proc', '--kill-child', 'sh', '-c', source];
  const child = spawn('unshare', argv, { detached: keepAlive, stdio: ['pipe', 'pipe', 'ignore'] });
  const failed = once(child, 'exit').then(([code]) => code);
  const said = await Promise.race([once(child.stdout, 'data'), failed]);
  if (!Array.isArray(said))
    throw new kit.WorkcellError('backend-unavailable', `unshare ended with code ${said}.`);
  for (const each of [child, child.stdin, child.stdout]) each.unref();
  const pid = Number(fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
  return { pid, namespace: namespaceOf(pid) };
}

async function connect(home, state, lease, context) {
  const place = { socketPath: join(home, 's') };
  const kind = state.network;
  const own = ['mount', 'pid', 'ipc', 'uts', ...(kind === 'none' ? ['network'] : [])];
  const facts = [
    { code: 'namespaces', enforced: false, values: { own, shared: ['user', 'cgroup'] } },
    { code: 'network', enforced: false, values: { kind, networks: [], publishedPorts: 0 } },
    { code: 'files', enforced: false, values: { system: 'machine', writable: [] } },
  ];
  return kit.servedCell({
    id: context.id,
    backend: 'nsenter',
    reached: await kit.reachExecutor(place, { token: state.token }, context),
    isolation: { tier: 'none', facts },
    lease,
    end: () => remove(home, state),
  });
}

/**
 * No event reports the end of a process that is not our child. It ends within moments, with everything that it
 * started.
 */
async function remove(home, state) {
  if (isRunning(state)) process.kill(state.pid, 'SIGKILL');
  while (isRunning(state)) await new Promise((resolve) => setTimeout(resolve, 5));
  fs.rmSync(home, { recursive: true, force: true });
}

/** The number of a process may belong to another by now; its namespace tells. */
function isRunning({ pid, namespace }) {
  return namespace !== undefined && namespaceOf(pid) === namespace;
}

const attempt = (work) => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
const namespaceOf = (pid) => attempt(() => fs.readlinkSync(`/proc/${pid}/ns/pid`));
const readState = (home) => attempt(() => JSON.parse(fs.readFileSync(join(home, 'state.json'), 'utf8')));
