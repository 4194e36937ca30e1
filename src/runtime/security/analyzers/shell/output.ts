/**
 * What simple programs print, where it is constant: enough to see through text that a command assembles or decodes.
 */

import { own } from '../lookup.js';
import { unknownText } from '../paths/place.js';
import type { Invocation } from './invocation.js';

/** The output, a text with an unknown part in it, or nothing when it is unknown. */
export function outputOf({
  program,
  args,
  input,
}: Pick<Invocation, 'program' | 'args' | 'input'>): string | undefined {
  const print = own(printers, program);
  return print?.(args, input.text);
}

type Printer = (args: readonly string[], input: string | undefined) => string | undefined;

const printers: Readonly<Record<string, Printer | undefined>> = {
  echo: (args) => {
    const flags = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
    const words = flags === -1 ? [] : args.slice(flags);
    const text = words.join(' ');
    return args.slice(0, flags).some((flag) => flag.includes('e')) ? decodeEscapes(text) : `${text}\n`;
  },
  printf: ([format = '', ...rest]) => {
    const words = [...rest];
    const text = decodeEscapes(format).replace(
      /%(?:(%)|-?\d*([sbdq]))/g,
      (_, percent: string | undefined, kind) =>
        percent === '%' ? '%' : kind === 'b' ? decodeEscapes(words.shift() ?? '') : (words.shift() ?? ''),
    );
    return words.length > 0 && rest.length > 0 ? `${text}${words.join('')}` : text;
  },
  cat: (args, input) => (args.every((arg) => arg === '-') ? input : undefined),
  tee: (_, input) => input,
  base64: (args, input) => (isDecoding(args) ? decode(input, 'base64') : undefined),
  openssl: (args, input) =>
    args.includes('-d') && args.some((arg) => /base64/.test(arg)) ? decode(input, 'base64') : undefined,
  xxd: (args, input) => (args.some((arg) => /^-\w*r/.test(arg)) ? decode(input, 'hex') : undefined),
  rev: (_, input) =>
    input
      ?.split('\n')
      .map((line) => [...line].reverse().join(''))
      .join('\n'),
  tr: (args, input) => translate(args, input),
  mktemp: () => `/tmp/${unknownText}`,
  pwd: () => '.',
  seq: () => unknownText,
  whoami: () => unknownText,
  basename: ([path = '']) => path.split('/').at(-1),
  dirname: ([path = '']) => path.split('/').slice(0, -1).join('/') || (path.startsWith('/') ? '/' : '.'),
  realpath: (args) => args.find((arg) => !arg.startsWith('-')),
  readlink: (args) => args.find((arg) => !arg.startsWith('-')),
  which: ([program]) => (program === undefined ? undefined : `/usr/bin/${program}`),
  git: (args) =>
    args.includes('--show-toplevel') ? '.' : args[0] === 'ls-files' ? `./${unknownText}` : undefined,
  find: (args) => {
    const base = args.find((arg) => !/^-[HLPOD]/.test(arg)) ?? '.';
    const name = args[args.findIndex((arg) => /^-i?name$/.test(arg)) + 1];
    const found =
      args.some((arg) => /^-i?name$/.test(arg)) && name !== undefined
        ? `${unknownText}/${name}`
        : unknownText;
    return `${base.startsWith('-') ? '.' : base.replace(/\/$/, '')}/${found}`;
  },
  fd: () => `./${unknownText}`,
  rg: () => `./${unknownText}`,
  ls: (args) => {
    const base = args.find((arg) => !arg.startsWith('-'));
    // The names come without their directory.
    if (
      base !== undefined &&
      /^[/~]/.test(base) &&
      (/[*?[]/.test(base) || args.some((arg) => /^-\w*d/.test(arg)))
    )
      return base;
    return base === undefined || /[*?[]/.test(base) ? `./${base ?? unknownText}` : unknownText;
  },
  grep: (args) => (args.some((arg) => /^-\w*l/.test(arg)) ? `./${unknownText}` : undefined),
  head: (_, input) => input,
  tail: (_, input) => input,
  sort: (_, input) => input,
  uniq: (_, input) => input,
};

function isDecoding(args: readonly string[]): boolean {
  return args.some((arg) => arg === '--decode' || /^-[a-zA-Z]*[dD]/.test(arg));
}

function decode(text: string | undefined, encoding: 'base64' | 'hex'): string | undefined {
  if (text === undefined || text.includes(unknownText)) return undefined;
  return Buffer.from(text.replace(/\s+/g, ''), encoding).toString('utf8');
}

/** `tr` between two sets of the same size, such as a rotation of the alphabet, and `tr -d`. */
function translate(args: readonly string[], input: string | undefined): string | undefined {
  if (input === undefined || input.includes(unknownText)) return undefined;
  const [from = '', to = ''] = args
    .filter((arg) => !arg.startsWith('-'))
    .map(decodeEscapes)
    .map(ranges);
  if (args.includes('-d')) return [...input].filter((character) => !from.includes(character)).join('');
  return [...input]
    .map((character) => {
      const index = from.indexOf(character);
      return index === -1 ? character : (to[Math.min(index, to.length - 1)] ?? character);
    })
    .join('');
}

function ranges(set: string): string {
  return set.replace(/^\[(.*)\]$/, '$1').replace(/(.)-(.)/g, (_, first: string, last: string) => {
    const start = first.charCodeAt(0);
    const size = Math.max(0, Math.min(256, last.charCodeAt(0) - start + 1));
    return String.fromCharCode(...Array.from({ length: size }, (_value, index) => start + index));
  });
}

/** The escapes of `echo -e` and `printf`. */
function decodeEscapes(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([abefnrtv\\"']))/g,
    (_, hex?: string, unicode?: string, octal?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16) || 10);
      if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
      // What separates words is as good as a line break.
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255 || 10);
      return { n: '\n', t: '\t', r: '\r' }[letter ?? ''] ?? letter ?? '';
    },
  );
}
