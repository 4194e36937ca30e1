/** Bytes for a terminal: text of every kind, and every kind of sequence with numbers that no program means. */
import { writeSync } from 'node:fs';
import type { Random } from '../random.js';

/** Prints, and exits with the code in the first word. */
export function printTerminal(random: Random, [code = '0']: readonly string[]): void {
  print(terminalBytes(random));
  process.exit(Number(code));
}

function terminalBytes(random: Random): Buffer {
  const pieces = random.list(60, () => piece(random));
  // The same thing very often costs a parser most.
  if (random.chance(0.4)) {
    const one = Buffer.concat(random.list(4, () => piece(random))).subarray(0, 300);
    pieces.push(Buffer.concat(Array.from({ length: random.size(60_000) }, () => one)).subarray(0, 6_000_000));
  }
  return Buffer.concat(pieces);
}

function piece(random: Random): Buffer {
  return random.pick(kinds)(random);
}

const latin = (text: string) => Buffer.from(text, 'latin1');

const kinds: readonly ((random: Random) => Buffer)[] = [
  controlSequence,
  controlSequence,
  controlSequence,
  stringSequence,
  (random) =>
    latin(`\x1b${random.pick(['7', '8', 'c', 'D', 'E', 'H', 'M', 'Z', '#8', '(0', '%G', '=', '>'])}`),
  (random) =>
    latin(
      random
        .pick(['\r', '\b', '\t', '\n', '\v', '\f', '\x07', '\0', '\x7f', '\x9b', '\x18'])
        .repeat(random.size(4000)),
    ),
  (random) => random.bytes(random.size(2000)),
  (random) =>
    Buffer.from(
      random
        .pick(['x', 'ä', '漢', '👩‍👩‍👧', 'e\u0301\u0302', '\u200d', '\ufffd', '\u202e'])
        .repeat(random.size(8000)),
    ),
  (random) => Buffer.from(`line ${random.int(1000)}\r\n`.repeat(random.size(3000))),
  // What a report of a shell could look like.
  (random) =>
    latin(
      `\x1b]7777;${random.pick(['left', 'exit;/', `${random.bytes(8).toString('hex')}.${random.int(9)};0;0;/`])}\x07`,
    ),
];

const numbers = [
  '',
  '0',
  '1',
  '2',
  '80',
  '1049',
  '9999',
  '65536',
  '999999999',
  '2147483647',
  '2147483648',
  '4294967296',
  '99999999999999999999',
  '-1',
  ':',
  '1:2:3',
];

function controlSequence(random: Random): Buffer {
  const marker = random.chance(0.3) ? random.pick(['?', '>', '<', '=']) : '';
  const parameters = random.list(random.chance(0.05) ? 5000 : 4, () => random.pick(numbers)).join(';');
  const between = random.chance(0.1) ? random.pick([' ', '!', '"', '$', "'", '*']) : '';
  const last = String.fromCharCode(random.between(0x40, 0x7e));
  return latin(`\x1b[${marker}${parameters}${between}${last}${random.chance(0.5) ? 'X' : ''}`);
}

/** A title, a colour, a picture, or something of that form that may never end. */
function stringSequence(random: Random): Buffer {
  const start = random.pick([
    ']',
    'P',
    'X',
    '^',
    '_',
    ']4;',
    ']8;;',
    ']52;c;',
    'P+q',
    'P$q',
    ']1337;File=inline=1:',
  ]);
  const body = Buffer.from(random.pick(['a', ';', '1;', '\x1b', 'ff']).repeat(random.size(20_000)));
  return Buffer.concat([latin(`\x1b${start}`), body, latin(random.pick(['\x07', '\x1b\\', '']))]);
}

/** Whole, also to a terminal that takes its time. */
export function print(bytes: Buffer, descriptor = 1): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
