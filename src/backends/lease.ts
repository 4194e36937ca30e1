/**
 * Who works in a cell: one process at a time, so that there is one policy and one record of what happens in it. A
 * lease is a socket in the directory of the cell on which its holder listens. The kernel closes it with the holder,
 * however that ends. So nobody has to trust a process number, which may belong to another process by now.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync, readdirSync, renameSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { removeFile } from '../cell/launchers/scratch.js';
import { WorkcellError } from '../protocol/index.js';

/** The right to work in a cell, which one process has at a time. */
export interface Lease {
  /** Releases it for others. Succeeds when called twice. */
  release(): void;
}

/** Throws `cell-in-use` while another process, or another runtime of this one, holds it. */
export async function takeLease(id: string, directory: string): Promise<Lease> {
  const taken = await tryLease(directory);
  if ('release' in taken) return taken;
  const { heldBy } = taken;
  taken.leave();
  const who = heldBy === process.pid ? 'This process' : `Process ${heldBy}`;
  throw new WorkcellError(
    'cell-in-use',
    `${who} works in cell "${id}". Let it call runtime.detach(), or end it; then attach again.`,
    { details: { id, heldBy } },
  );
}

export interface Held {
  readonly heldBy: number;
  /** Settles when the holder has released it or has ended, unless you called `leave`. */
  readonly lapsed: Promise<void>;
  leave(): void;
}

/** The lease, or its holder. When several processes ask at once, exactly one gets it. */
export async function tryLease(directory: string): Promise<Lease | Held> {
  const place = openPlace(directory);
  const own = new LeaseSocket(place);
  try {
    await own.announce();
    for (const name of leaseSocketsIn(place.path).filter((other) => other !== own.name)) {
      const other = await ask(place.path, name);
      // Of two processes that ask at once, the one whose name sorts first continues, and waits until the other
      // withdraws.
      const lost =
        other !== undefined &&
        (other.state === 'held' || name < own.name || (await other.changed) === 'held');
      if (lost) {
        own.release();
        return { heldBy: holderIn(name), lapsed: other.lapsed, leave: other.leave };
      }
      other?.leave();
    }
    own.hold();
    return own;
  } catch (error) {
    own.release();
    throw error;
  }
}

/** The process that holds it. */
export async function leaseHolder(directory: string): Promise<number | undefined> {
  for (const name of leaseSocketsIn(directory)) {
    const other = await ask(directory, name);
    other?.leave();
    if (other?.state === 'held') return holderIn(name);
  }
  return undefined;
}

interface Place {
  readonly path: string;
  close(): void;
}

/** An open directory stays the same after a rename, and its path is short enough for a socket's address. */
function openPlace(directory: string): Place {
  if (process.platform !== 'linux') return { path: directory, close: () => {} };
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const descriptor = openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}

/** What a holder answers to a process that connects: first its state, then each change. */
const words = { asking: 'a', held: 'h' } as const;

class LeaseSocket implements Lease {
  readonly name = `lease-${process.pid}-${randomBytes(6).toString('hex')}`;
  readonly #place: Place;
  readonly #server: Server;
  readonly #askers = new Set<Socket>();
  #state: keyof typeof words = 'asking';
  #released = false;

  constructor(place: Place) {
    this.#place = place;
    this.#server = createServer((socket) => {
      this.#askers.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#askers.delete(socket));
      socket.unref();
      socket.resume();
      socket.write(words[this.#state]);
    });
  }

  /** Listen first, then take the name: others treat a name that does not answer as a dead process's. */
  async announce(): Promise<void> {
    const { path } = this.#place;
    const unnamed = join(path, `new-${this.name}`);
    this.#server.listen(unnamed);
    await once(this.#server, 'listening');
    this.#server.unref();
    renameSync(unnamed, join(path, this.name));
  }

  hold(): void {
    this.#state = 'held';
    for (const socket of this.#askers) socket.write(words.held);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    removeFile(join(this.#place.path, this.name));
    this.#server.close();
    for (const socket of this.#askers) socket.destroy();
    this.#place.close();
  }
}

interface Rival {
  readonly state: keyof typeof words;
  /** Settles when it got the lease, or withdrew. */
  readonly changed: Promise<'held' | 'gone'>;
  /** Settles when it has lapsed. */
  readonly lapsed: Promise<void>;
  leave(): void;
}

/** A process that is stopped, or too busy to answer, still holds it. */
const answerMs = 3000;

/**
 * A holder that hangs up without an answer is ending, or has no descriptor left. Only a refused connection proves
 * that no process holds the socket, so ask again.
 */
const tries = 100;

/** Undefined when its process has ended; then this removes what it left. */
async function ask(directory: string, name: string): Promise<Rival | undefined> {
  const path = join(directory, name);
  for (let count = 0; count < tries; count++) {
    const socket = connect(path);
    const failed = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      socket.once('connect', () => resolve(undefined));
      socket.once('error', resolve);
    });
    if (failed?.code === 'ECONNREFUSED') removeFile(path);
    if (failed?.code === 'ECONNREFUSED' || failed?.code === 'ENOENT') return undefined;
    // It stopped listening before it took the connection.
    if (failed?.code === 'ECONNRESET') continue;
    if (failed !== undefined) return busy();
    const { first, second, gone } = wordsOf(socket);
    const state = await Promise.race([first, gone.then(() => undefined), silence()]);
    if (state === undefined) continue;
    return {
      state: state === words.asking ? 'asking' : 'held',
      changed: Promise.race([second.then(() => 'held' as const), gone.then(() => 'gone' as const)]),
      lapsed: gone,
      leave: () => socket.destroy(),
    };
  }
  return busy();
}

/** It lives and does not answer. A process that waits for it looks again after a while. */
function busy(): Rival {
  return {
    state: 'held',
    changed: Promise.resolve('held'),
    lapsed: silence().then(() => {}),
    leave: () => {},
  };
}

/** Its messages, one letter each, and its end. */
function wordsOf(socket: Socket): { first: Promise<string>; second: Promise<string>; gone: Promise<void> } {
  let onFirst = (_word: string): void => {};
  let onSecond = (_word: string): void => {};
  const first = new Promise<string>((resolve) => {
    onFirst = resolve;
  });
  const second = new Promise<string>((resolve) => {
    onSecond = resolve;
  });
  let count = 0;
  socket.on('data', (chunk: Buffer) => {
    for (const word of chunk.toString('latin1')) (count++ === 0 ? onFirst : onSecond)(word);
  });
  socket.on('error', () => {});
  return { first, second, gone: new Promise((resolve) => socket.once('close', () => resolve())) };
}

function silence(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(words.held), answerMs).unref();
  });
}

function leaseSocketsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^lease-\d+-/.test(name))
      .sort();
  } catch {
    return [];
  }
}

function holderIn(name: string): number {
  return Number(/^lease-(\d+)-/.exec(name)?.[1] ?? 0);
}
