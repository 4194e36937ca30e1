/**
 * Stands between a browser and its owner, as any program of the same user can. Passes messages of the DevTools protocol on
 * in both directions, and of those that the browser sends it changes, repeats, delays and invents some.
 */
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { Random } from '../random.js';
import { print } from './terminal.js';
import { mutate, toText } from './values.js';

/** Where the owner writes the seed of the round; without it everything passes as it is. */
export const seedFile = '/workspace/.devtools-seed';

const programs = ['/usr/lib/chromium/chromium', '/usr/bin/chromium', '/usr/bin/google-chrome'];

export function proxyDevtools(_random: Random, words: readonly string[]): void {
  const program = programs.find((path) => existsSync(path)) ?? 'chromium';
  const browser = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
  browser.once('exit', (code) => process.exit(code ?? 1));
  const [, , , toBrowser, fromBrowser] = browser.stdio as unknown as [null, null, null, Writable, Readable];
  createReadStream('', { fd: 3 })
    .on('data', (chunk) => void toBrowser.write(chunk))
    .on('close', () => browser.kill('SIGKILL'));
  const seen: unknown[] = [];
  eachMessage(fromBrowser, (text) => {
    const random = current();
    if (random === undefined) return say(text);
    const message = JSON.parse(text) as unknown;
    if (seen.push(message) > 200) seen.shift();
    if (random.chance(0.05)) for (const other of inventions(random, seen)) say(toText(other));
    if (random.chance(0.01)) return;
    say(random.chance(0.03) ? toText(mutate(random, message)) : text);
    if (random.chance(0.03)) say(text);
  });
}

let round: { seed: string; random: Random } | undefined;

function current(): Random | undefined {
  let seed = '';
  try {
    seed = readFileSync(seedFile, 'utf8');
  } catch {
    // Between rounds.
  }
  if (seed === '') round = undefined;
  else if (seed !== round?.seed) round = { seed, random: new Random(Number(seed)) };
  return round?.random;
}

/** Events that the owner did not cause, and answers to what it did not ask. */
function inventions(random: Random, seen: readonly unknown[]): unknown[] {
  const one = random.chance(0.5) ? mutate(random, random.pick(seen)) : random.pick(events)(random);
  return Array.from({ length: random.size(random.chance(0.1) ? 3000 : 5) }, () => one);
}

const id = (random: Random) =>
  random.pick(['', 'A', '0'.repeat(32), random.bytes(16).toString('hex').toUpperCase()]);

const events: readonly ((random: Random) => unknown)[] = [
  (random) => ({ id: random.pick([0, 1, -1, 2 ** 31, random.int(500)]), result: {} }),
  (random) => ({ id: random.int(500), error: { code: -32000, message: 'x'.repeat(random.size(100_000)) } }),
  (random) => ({
    method: 'Target.attachedToTarget',
    params: {
      sessionId: id(random),
      targetInfo: {
        targetId: id(random),
        type: random.pick(['page', 'iframe', 'worker', 'service_worker', 'tab', 'other']),
        title: '',
        url: 'about:blank',
        attached: true,
        canAccessOpener: false,
        browserContextId: id(random),
      },
      waitingForDebugger: true,
    },
  }),
  (random) => ({ method: 'Target.detachedFromTarget', params: { sessionId: id(random) } }),
  (random) => ({
    method: 'Target.targetCrashed',
    params: { targetId: id(random), status: 'x', errorCode: 1 },
  }),
  (random) => ({
    method: 'Browser.downloadWillBegin',
    params: {
      frameId: id(random),
      guid: random.pick(['../../x', id(random)]),
      url: 'about:blank',
      suggestedFilename: '../'.repeat(random.size(2000)),
    },
  }),
  (random) => ({
    method: 'Browser.downloadProgress',
    params: {
      guid: id(random),
      totalBytes: 1e300,
      receivedBytes: -1,
      state: random.pick(['completed', 'canceled', 'odd']),
    },
  }),
  (random) => ({
    method: random.pick([
      'Page.frameAttached',
      'Page.frameDetached',
      'Page.frameNavigated',
      'Runtime.executionContextCreated',
      'Network.requestWillBeSent',
      'Fetch.requestPaused',
      'Page.javascriptDialogOpening',
      'Runtime.consoleAPICalled',
      'Inspector.targetCrashed',
    ]),
    sessionId: id(random),
    params: {
      frameId: id(random),
      parentFrameId: id(random),
      requestId: id(random),
      type: 'alert',
      message: 'y'.repeat(random.size(100_000)),
      url: 'z'.repeat(random.size(100_000)),
    },
  }),
];

function eachMessage(stream: Readable, take: (text: string) => void): void {
  let pieces: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, from)) {
      take(Buffer.concat([...pieces, chunk.subarray(from, end)]).toString());
      pieces = [];
      from = end + 1;
    }
    pieces.push(chunk.subarray(from));
  });
}

function say(text: string): void {
  print(Buffer.from(`${text}\0`), 4);
}
