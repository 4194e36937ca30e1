/**
 * Tries to speak for the machinery of the cell: writes what its reports look like, and what they do not, to everything
 * that can be opened, then exits with the code in the first word. Whatever it finds it uses: names of pipes in command
 * lines, descriptors of other processes, terminals, sockets.
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../random.js';

/**
 * The variable that processes of the cell carry: the pid namespace of the owner, and a word of this cell. A place without
 * isolation shows all processes of the machine, and only those of the cell are attacked there.
 */
export const cellVariable = 'FUZZ_CELL';

/** `CODE MARKER exit|signal|stay [daemon]` */
export async function attackControl(random: Random, words: readonly string[]): Promise<void> {
  const [code = '0', marker = '', end = 'exit', role] = words;
  if (role === 'daemon') {
    const until = Date.now() + 20_000;
    while (Date.now() < until) {
      attack(random);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return;
  }
  for (let count = random.int(3); count > 0; count--) leaveDaemon(random, marker);
  attack(random);
  if (end === 'stay') setInterval(() => attack(random), 100);
  else if (end === 'signal') process.kill(process.pid, 'SIGTERM');
  else process.exit(Number(code));
}

/** In a session of its own, with nothing open. */
function leaveDaemon(random: Random, marker: string): void {
  const [, program = ''] = process.argv;
  const words = [program, 'control', String(random.int(1 << 30)), '0', marker, 'stay', 'daemon'];
  spawn(process.execPath, words, { detached: true, stdio: 'ignore' }).unref();
}

function attack(random: Random): void {
  if (process.env[cellVariable] === undefined) throw new Error('This attacks cells of the fuzzer only.');
  const known = names();
  const lines = random.list(40, () => line(random, known));
  const flood = random.chance(0.3) ? random.bytes(random.size(200_000)) : undefined;
  for (const target of targets()) {
    if (random.chance(0.2)) continue;
    put(target, lines.join(''));
    if (flood !== undefined) put(target, flood);
  }
}

/** Reports of shells, of the relay and of anything else that has a number and a state. */
function line(random: Random, known: readonly string[]): string {
  const number = random.int(40);
  const pid = random.pick([process.pid, process.ppid, 1, 2, random.int(300)]);
  const name = known.length === 0 ? '0'.repeat(16) : random.pick(known);
  return random.pick([
    `\x1b]7777;${name}.${number};0;0;/workspace\r\n\x07`,
    `\x1b]7777;left\x07`,
    `\x1b]7777;exit;/\x07`,
    `end ${number} ${pid} 0\n`,
    `start ${number} ${pid}\n`,
    `supervisor ${number} ${pid}\n`,
    `pump ${number} ${pid}\n`,
    `fail ${number} no-program\n`,
    `[1]+ ${pid} Done\n`,
    'ready\n',
    `${name}.${number} exit 0\0`,
    `${name}.${number}@\0`,
    `${'{"id":1,"exitCode":0}'.repeat(random.size(20))}\n`,
    `${random.bytes(random.size(400)).toString('latin1')}\n`,
    `end ${'9'.repeat(random.size(4000))} 1 0\n`,
  ]);
}

/** Words that look like the name of something. */
function names(): string[] {
  const found = new Set<string>();
  const note = (text: string) => {
    for (const [word] of text.matchAll(/[0-9a-f]{12,64}/g)) found.add(word);
  };
  for (const pid of victims()) for (const file of ['cmdline', 'environ']) note(text(`/proc/${pid}/${file}`));
  if (isApart()) for (const place of ['/run/workcell', '/tmp', '/run']) note(entries(place).join('\n'));
  return [...found];
}

function* targets(): Generator<string> {
  for (const pid of victims()) for (const fd of entries(`/proc/${pid}/fd`)) yield `/proc/${pid}/fd/${fd}`;
  if (isApart() || process.stdout.isTTY) yield '/dev/tty';
  if (!isApart()) return;
  yield '/dev/console';
  for (const name of entries('/dev/pts')) yield `/dev/pts/${name}`;
  for (const place of ['/run/workcell', '/tmp']) for (const name of entries(place)) yield join(place, name);
}

/**
 * Everything in sight where the cell sees only itself; elsewhere those that carry its word. Attackers leave each other
 * alone: one that crashes ends otherwise than it is told to.
 */
function victims(): string[] {
  const others = numbersIn('/proc').filter((pid) => !text(`/proc/${pid}/cmdline`).includes('inside.mjs'));
  if (isApart()) return others;
  const mark = `${cellVariable}=${process.env[cellVariable]}\0`;
  return others.filter((pid) => text(`/proc/${pid}/environ`).includes(mark));
}

/** Whether the kernel gave this process another view of processes than its owner has. */
function isApart(): boolean {
  const [owners = ''] = (process.env[cellVariable] ?? '').split(' ');
  const own = readlinkSync('/proc/self/ns/pid');
  const isView = readlinkSync('/proc/self') === String(process.pid);
  return owners.startsWith('pid:[') && own.startsWith('pid:[') && own !== owners && isView;
}

/** Waits for nobody, and leaves files alone: only what somebody else may be reading from. */
function put(target: string, data: string | Uint8Array): void {
  let descriptor: number | undefined;
  try {
    if (statSync(target).isFile() || statSync(target).isDirectory()) return;
    descriptor = openSync(target, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (typeof data === 'string') writeSync(descriptor, data, null, 'latin1');
    else writeSync(descriptor, data);
  } catch {
    // We may not open it, it is full, or it no longer exists.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function numbersIn(place: string): string[] {
  return entries(place).filter((name) => /^\d+$/.test(name));
}

function entries(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
