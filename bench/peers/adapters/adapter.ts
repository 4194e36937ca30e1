/** The part that all adapters in Node share: reads what to do from standard input, times it, and answers. */
import { createInterface } from 'node:readline';
import type { Ask, Timed } from '../link.js';

/** One place of a peer's: what the same work is done through. */
export interface Place {
  /** A shell command; gives its standard output. */
  run(command: string): Promise<string>;
  write(path: string, content: string): Promise<void>;
  read(path: string): Promise<string>;
  /** A code cell in Python; gives what it shows. A peer without code cells leaves it out. */
  code?(source: string): Promise<string>;
  close(): Promise<void>;
}

export interface Peer {
  open(): Promise<Place>;
  end?(): Promise<void>;
}

export async function serve(peer: Peer): Promise<void> {
  const places = new Map<number, Place>();
  for await (const line of createInterface({ input: process.stdin })) {
    const asks = JSON.parse(line) as Ask[];
    let answer: Timed;
    try {
      const begun = process.hrtime.bigint();
      const checks = await Promise.all(asks.map((ask) => perform(peer, places, ask)));
      const ms = Number(process.hrtime.bigint() - begun) / 1e6;
      for (const check of checks) check();
      answer = { ms };
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await Promise.all([...places.values()].map((place) => place.close()));
  await peer.end?.();
}

/** Gives the check of what it did, which is not timed. */
async function perform(peer: Peer, places: Map<number, Place>, ask: Ask): Promise<() => void> {
  if (ask.do === 'open') {
    places.set(ask.place, await peer.open());
    return () => {};
  }
  const place = places.get(ask.place);
  if (place === undefined) throw new Error(`There is no place ${ask.place}.`);
  switch (ask.do) {
    case 'run': {
      const output = await place.run(ask.command);
      return () => expect(output.trim(), ask.output);
    }
    case 'write':
      for (const path of ask.paths) await place.write(path, ask.content);
      return () => {};
    case 'read': {
      const content = await place.read(ask.path);
      return () => expect(content, ask.content);
    }
    case 'code': {
      if (place.code === undefined) throw new Error('It has no code cells.');
      const shown = await place.code(ask.source);
      return () => expect(shown.trim(), ask.output);
    }
    case 'close':
      places.delete(ask.place);
      await place.close();
      return () => {};
  }
}

function expect(seen: string, wanted: string): void {
  if (seen !== wanted)
    throw new Error(
      `It answered ${JSON.stringify(seen.slice(0, 200))} in place of ${JSON.stringify(wanted.slice(0, 200))}.`,
    );
}
