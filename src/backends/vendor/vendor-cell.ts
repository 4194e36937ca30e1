/** A cell in a vendor's sandbox: our executor is put there once, started, and reached through a port. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { quote } from '../../base/shell-quote.js';
import { readUntrustedJson } from '../../base/untrusted-json.js';
import { handshakeMark, handshakeSchema } from '../../cell/server/boot-protocol.js';
import type { CellSettings } from '../../cell/server/serve-cell.js';
import { type Cell, type Isolation, type Observation, WorkcellError } from '../../protocol/index.js';
import type { StartContext, StatsContext } from '../backend.js';
import { executorStats, newToken, reachExecutor } from '../executor-program.js';
import { type Pausable, pausable } from '../pausable.js';
import { shipPlugins } from '../shipped-plugins.js';
import { executorArchive } from './executor-archive.js';
import { awaitSandbox, limited, type NewSandbox } from './patient.js';
import type { VendorSandbox } from './vendor-sandbox.js';

/** Where all that is ours lies in a sandbox. */
const root = '/tmp/.workcell';
const cellDirectory = `${root}/cell`;
const settingsFile = `${cellDirectory}/settings.json`;
/** A cell can put anything there by the time we read it again. */
const mostSettings = 1024 * 1024;

/** So often a vendor hears that somebody still works in a sandbox. */
const extendMs = 60_000;

interface VendorCell {
  readonly backend: string;
  readonly sandbox: VendorSandbox;
  readonly env: Readonly<Record<string, string>>;
  readonly keepAlive: boolean;
}

/** What a sandbox says of itself: its home, and whether it has a Node that the executor can use. */
const lookAround = `printf '%s\\n' "$HOME"; node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null && echo node; ls ${root} 2>/dev/null`;

type NewVendorCell = Omit<VendorCell, 'sandbox'> & NewSandbox;

/** Starts the executor in a new sandbox. What does not start is ended. */
export async function startInSandbox(
  { create, endLeft, ...given }: NewVendorCell,
  context: StartContext,
): Promise<Cell> {
  const made = await awaitSandbox({ create, ...(endLeft && { endLeft }) }, context.signal);
  const cell = { ...given, sandbox: limited(made) };
  const sandbox = limited(made, context.signal);
  try {
    await sandbox.ready?.();
    const [home = '/tmp', ...found] = (await must(sandbox, lookAround, 'be looked at')).trim().split('\n');
    const archive = await executorArchive(!found.includes('node'));
    const directory = `${root}/${archive.name}`;
    if (!found.includes(archive.name)) {
      await must(sandbox, `mkdir -p -m 700 ${root}`, 'make a directory');
      await sandbox.write(`${directory}.tgz`, archive.content);
      const unpack = `mkdir ${directory}.new && tar -xzf ${directory}.tgz -C ${directory}.new`;
      await must(
        sandbox,
        `${unpack} && rm ${directory}.tgz && mv ${directory}.new ${directory}`,
        'unpack the executor',
      );
    }
    const settings = await settingsFor({ ...cell, sandbox }, `${home}/workspace`, context);
    await must(sandbox, `mkdir -p -m 700 ${cellDirectory} ${quote(settings.workspace)}`, 'make a directory');
    await sandbox.write(settingsFile, Buffer.from(JSON.stringify(settings)));
    checkHandshake(await must(sandbox, launchScript(archive.command(directory)), 'start the executor'));
    return await workIn(cell, settings, context);
  } catch (error) {
    await cell.sandbox.end().catch(() => {});
    throw error;
  }
}

const keptSchema = z.object({
  token: z.string(),
  workspace: z.string(),
  tcp: z.object({ port: z.int(), hosts: z.array(z.string()) }),
});

/** Works in a sandbox whose executor was kept alive. */
export async function attachToSandbox(given: VendorCell, context: StartContext): Promise<Cell> {
  try {
    const kept = await readKept(given.sandbox, context);
    return await workIn({ ...given, sandbox: limited(given.sandbox) }, kept, context);
  } catch (error) {
    given.sandbox.leave?.();
    throw error;
  }
}

/** What a running kept cell uses, over a connection of its own. */
export async function sandboxStats(
  given: VendorSandbox,
  { signal }: StatsContext,
): Promise<Observation<'stats'>> {
  try {
    const { token, tcp } = await readKept(given, { signal });
    const { url, headers } = await limited(given, signal).address(tcp.port);
    return await executorStats({ url }, { token, headers, signal });
  } finally {
    given.leave?.();
  }
}

async function readKept(sandbox: VendorSandbox, { signal }: StatsContext): Promise<Reachable> {
  const { output } = await limited(sandbox, signal).run(`head -c ${mostSettings} ${settingsFile}`);
  const kept = keptSchema.safeParse(readUntrustedJson(output));
  if (kept.success) return kept.data;
  throw new WorkcellError('cell-not-found', `The sandbox ${sandbox.id} holds no cell that was kept alive.`, {
    details: { sandbox: sandbox.id },
  });
}

type Reachable = z.output<typeof keptSchema>;

async function settingsFor(
  { sandbox, env }: VendorCell,
  workspace: string,
  { id, plugins = [] }: StartContext,
): Promise<CellSettings & Reachable> {
  const shipped = await shipPlugins(plugins, `${root}/plugins`);
  if (shipped.files.size > 0) {
    await must(sandbox, `mkdir -p -m 700 ${root}/plugins`, 'make a directory');
    for (const [name, text] of shipped.files)
      await sandbox.write(`${root}/plugins/${name}`, Buffer.from(text));
  }
  // Away from the ports that programs usually choose.
  const port = sandbox.port ?? randomInt(41_000, 49_000);
  const { host } = await sandbox.address(port);
  return {
    id,
    socketPath: `${cellDirectory}/socket`,
    token: newToken(),
    workspace,
    env: { ...env },
    // Nothing holds its standard input; the sandbox ends with us, or by itself.
    keepAlive: true,
    plugins: [...shipped.specs],
    tcp: { port, hosts: [host] },
  };
}

/** The program lives on by itself and says through a pipe that it listens, so that nobody has to ask again and again. */
function launchScript(argv: readonly string[]): string {
  const words = [...argv, 'cell', settingsFile].map(quote).join(' ');
  const pipe = `${cellDirectory}/handshake`;
  return [
    `rm -f ${pipe} && mkfifo -m 600 ${pipe}`,
    `{ setsid ${words} </dev/null >${pipe} 2>${cellDirectory}/log & }`,
    `grep -m1 '^${handshakeMark}' <${pipe} || tail -n 20 ${cellDirectory}/log; rm -f ${pipe}`,
  ].join('\n');
}

function checkHandshake(output: string): void {
  const line = output.split('\n').find((one) => one.startsWith(handshakeMark));
  const handshake = handshakeSchema.safeParse(readUntrustedJson(line?.slice(handshakeMark.length) ?? ''));
  if (!handshake.success)
    throw new WorkcellError(
      'backend-unavailable',
      `The executor did not start in the sandbox: ${output.slice(-2000)}`,
    );
  if (!('error' in handshake.data)) return;
  const { code, message, details } = handshake.data.error;
  throw new WorkcellError(code, message, { details: details ?? {} });
}

async function workIn(
  { backend, sandbox, keepAlive }: VendorCell,
  { token, tcp: { port } }: Reachable,
  context: StartContext,
): Promise<Cell> {
  const { url, headers } = await sandbox.address(port);
  let gate: Pausable | undefined;
  const halted = () => gate?.halted();
  const { executor, info } = await reachExecutor({ url }, { token, headers, halted }, context);
  const { extend, pause, resume } = sandbox;
  if (pause !== undefined && resume !== undefined)
    gate = pausable(executor, async () => {
      await pause();
      return resume;
    });
  const timer = extend === undefined ? undefined : setInterval(() => void extend().catch(() => {}), extendMs);
  timer?.unref();
  let over: Promise<void> | undefined;
  return {
    id: context.id,
    backend,
    executor: gate?.executor ?? executor,
    isolation: vendorIsolation,
    workspace: info.workspace,
    lost: executor.lost,
    stop() {
      over ??= (async () => {
        clearInterval(timer);
        await executor.disconnect();
        await sandbox.end();
      })();
      return over;
    },
    ...(keepAlive && {
      detach() {
        clearInterval(timer);
        over ??= executor.disconnect().finally(() => sandbox.leave?.());
        return over;
      },
    }),
    ...(gate !== undefined && { pause: gate.pause, resume: gate.resume }),
  };
}

/** What a vendor enforces is what it says; nobody here can look. Commands run as the user of our executor, and can reach it. */
const vendorIsolation: Isolation = {
  tier: 'vendor',
  facts: [{ code: 'executor', enforced: false, values: {} }],
};

async function must(sandbox: VendorSandbox, command: string, what: string): Promise<string> {
  const { exitCode, output } = await sandbox.run(command);
  // The look around ends with whatever its last part says.
  if (exitCode === 0 || command === lookAround) return output;
  throw new WorkcellError(
    'backend-unavailable',
    `The sandbox ${sandbox.id} could not ${what}; it said: ${output.slice(-1000)}`,
    { details: { sandbox: sandbox.id, exitCode } },
  );
}
