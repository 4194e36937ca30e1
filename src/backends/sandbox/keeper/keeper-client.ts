/** The owner's side of a keeper: finds it, starts it when there is none, and asks it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { packageVersion } from '../../../base/package-version.js';
import { WorkcellError } from '../../../protocol/index.js';
import { awaitHandshake } from '../../await-handshake.js';
import { tryLease } from '../../lease.js';
import { programWords } from '../../programs.js';
import { startProgram } from '../../server-process.js';
import { type CellRequest, keeperAnswerSchema, type StartRequest } from './keeper-messages.js';
import { type CellHome, keeperDirectory } from './kept-cell-home.js';
import { isListening, type LineConnection, sendLine } from './lines.js';
import { NetworkClient } from './network-client.js';

const program = () => programWords('backends/sandbox/keeper/keeper-main');

/** A cell must start, or stop, within this time. */
const answerMs = 30_000;

/** A keeper may end while we ask; start another one then. */
const tries = 5;

/** A connection that lasts as long as the cell does. */
export interface Life {
  /** Settles when the cell or its keeper has ended, with the reason. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Starts a cell in the keeper of this user, or in one that only this tenant's cells are in. */
export async function startInKeeper(
  request: StartRequest,
  { tenant = '', signal }: { tenant?: string | undefined; signal?: AbortSignal | undefined },
): Promise<Life> {
  const path = join(keeperDirectory(), `${keeperName(tenant)}.s`);
  for (let count = 1; ; count++) {
    await ensureKeeper(path, signal);
    try {
      return await lifeOf(await sendLine(path, request), request.id, signal);
    } catch (error) {
      // Work that the keeper began has ended with it.
      if (!isGone(error) || count >= tries) throw error;
    }
  }
}

/** Watches a cell that runs. */
export async function watchCell(home: CellHome, id: string, token: string): Promise<Life> {
  return lifeOf(await sendToCell(home, { token, ask: 'watch' }), id, undefined);
}

/** A connection to the gateway of a cell with network rules. */
export async function openNetwork(home: CellHome, id: string, token: string): Promise<NetworkClient> {
  const connection = await sendToCell(home, { token, ask: 'network' });
  try {
    await handshake(connection, id, undefined);
    const network = await NetworkClient.open(connection);
    // As with the life of the cell. While it opens, nothing else may keep this process alive.
    connection.unref();
    return network;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Settles when the keeper has finished. */
export async function askCell(home: CellHome, id: string, request: CellRequest): Promise<void> {
  const connection = await sendToCell(home, request);
  try {
    await handshake(connection, id, undefined);
  } catch (error) {
    throw isSilent(error) ? keeperSilent(id, error) : error;
  } finally {
    connection.close();
  }
}

async function sendToCell(home: CellHome, request: CellRequest): Promise<LineConnection> {
  return sendLine(home.control, request).catch((cause: unknown) => {
    throw keeperGone(home.control, cause);
  });
}

async function lifeOf(
  connection: LineConnection,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Life> {
  try {
    await handshake(connection, id, signal);
  } catch (error) {
    connection.close();
    throw error;
  }
  // An unused cell must not keep this process alive.
  connection.unref();
  return {
    ended: connection
      .next()
      .then((line) => endOf(line) ?? 'The keeper of the cell ended, and the cell with it.'),
    close: () => connection.close(),
  };
}

async function handshake(
  connection: LineConnection,
  id: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const said = connection.next().then((line) => {
    if (line === undefined) throw keeperGone(id);
    return line;
  });
  await awaitHandshake({
    who: `Sandbox cell ${id}`,
    said,
    ended: new Promise(() => {}),
    limitMs: answerMs,
    signal,
  });
}

function endOf(line: string | undefined): string | undefined {
  if (line === undefined) return undefined;
  try {
    const answer = keeperAnswerSchema.parse(JSON.parse(line));
    return 'ended' in answer ? answer.ended : undefined;
  } catch {
    return undefined;
  }
}

/** When several processes want one at once, one starts it and the others wait for that. */
async function ensureKeeper(path: string, signal: AbortSignal | undefined): Promise<void> {
  while (!(await isListening(path))) {
    const taken = await tryLease(keeperDirectory());
    if ('lapsed' in taken) {
      await taken.lapsed;
      continue;
    }
    try {
      if (!(await isListening(path))) await startKeeper(path, signal);
    } finally {
      taken.release();
    }
  }
}

async function startKeeper(socketPath: string, signal: AbortSignal | undefined): Promise<void> {
  const keeper = startProgram({
    who: 'The keeper of sandbox cells',
    argv: [process.execPath, ...program()],
    directory: '/',
    env: keeperEnvironment(),
    logFile: `${socketPath}.log`,
  });
  await keeper.begin({ socketPath }, signal).catch(async (error: unknown) => {
    await keeper.end();
    throw error;
  });
}

/**
 * It outlives its starter and serves others, so it gets only the variables for finding programs from their
 * environment.
 */
function keeperEnvironment(): NodeJS.ProcessEnv {
  const names = [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'LANG',
    'TMPDIR',
    'TZ',
    'XDG_RUNTIME_DIR',
    'XDG_CACHE_HOME',
  ];
  return Object.fromEntries(names.map((name) => [name, process.env[name]]).filter(([, value]) => value));
}

/** One for each installation, so that its executor is the version that its owner has. */
function keeperName(tenant: string): string {
  return createHash('sha256')
    .update(`${program().join(' ')}\0${packageVersion()}\0${tenant}`)
    .digest('hex')
    .slice(0, 12);
}

function isGone(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return ['runtime-disconnected', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].includes(code);
}

function isSilent(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'backend-unavailable';
}

/** The keeper may be stopped or overloaded, so do not remove the cell. */
function keeperSilent(id: string, cause: unknown): WorkcellError {
  return new WorkcellError(
    'backend-unavailable',
    `The keeper of sandbox cell "${id}" runs and does not answer. Workcell ended nothing: try again, or end the keeper.`,
    { details: { id }, cause },
  );
}

function keeperGone(where: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'runtime-disconnected',
    'The keeper of the cell is gone, and the cell with it. Start a new one.',
    { details: { server: where }, cause },
  );
}
