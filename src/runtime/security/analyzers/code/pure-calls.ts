/** Calls and variables that only make a value out of others: paths, homes, decoded and reassembled text. */
import { unknownText } from '../paths/place.js';
import type { Call } from './reader.js';
import { joinPaths, listValue, replaced, textValue, type Value } from './value.js';

const home = textValue('~');

/** The value of a name such as `process.env.HOME` or `Dir.home`. */
export function variableAt(chain: readonly string[]): Value | undefined {
  const name = chain.join('.');
  if (/(?:env|ENV|environ|_SERVER)\.(?:HOME|USERPROFILE)$/.test(name) || name === 'Dir.home') return home;
  return undefined;
}

type Pure = (args: readonly Value[], on: Value | undefined) => Value | undefined;

const table: Readonly<Record<string, Pure | undefined>> = {
  join: (args, on) => {
    if (on !== undefined && on.text !== unknownText)
      return args[0]?.items !== undefined
        ? joined(args[0].items, on.text)
        : on.items !== undefined
          ? joined(on.items, args[0]?.text ?? ',')
          : joinPaths([on, ...args]);
    return joinPaths(args);
  },
  joinpath: (args, on) => joinPaths(on === undefined ? args : [on, ...args]),
  expanduser: (args, on) => args[0] ?? on,
  expand_path: (args) => args[0],
  abspath: first,
  resolve: (args, on) => (args.length > 0 ? joinPaths(args) : on),
  realpath: first,
  normpath: first,
  Path: (args) => joinPaths(args),
  PosixPath: (args) => joinPaths(args),
  Pathname: first,
  new: first,
  File: first,
  Dir: first,
  of: first,
  pack: ([format, text]) => (/^H/.test(format?.text ?? '') ? decoded(text, 'hex') : undefined),
  str: first,
  String: first,
  fspath: first,
  list: first,
  sorted: first,
  homedir: () => home,
  home: () => home,
  getenv: (args) => (args[0]?.text === 'HOME' ? home : undefined),
  get: (args, on) => (on === undefined && args[0]?.text === 'HOME' ? home : undefined),
  glob: (args, on) => (on === undefined || on.text === unknownText ? first(args) : joinPaths([on, ...args])),
  rglob: (args, on) => joinPaths([on ?? textValue('.'), ...args]),
  globSync: first,
  iglob: first,
  iterdir: (_, on) => (on === undefined ? undefined : joinPaths([on, textValue('*')])),
  children: (args, on) => joinPaths([args[0] ?? on ?? textValue('.'), textValue('*')]),
  scandir: (args) => joinPaths([args[0] ?? textValue('.'), textValue('*')]),
  walk: first,
  chr: (args) => character(args),
  bytes: (args) => (args[0]?.items === undefined ? args[0] : character(args[0].items)),
  bytearray: (args) => (args[0]?.items === undefined ? args[0] : character(args[0].items)),
  fromCharCode: (args) => character(args),
  fromCodePoint: (args) => character(args),
  b64decode: (args) => decoded(args[0], 'base64'),
  decode64: (args) => decoded(args[0], 'base64'),
  strict_decode64: (args) => decoded(args[0], 'base64'),
  base64_decode: (args) => decoded(args[0], 'base64'),
  decode_base64: (args) => decoded(args[0], 'base64'),
  atob: (args) => decoded(args[0], 'base64'),
  from: (args) =>
    /^(?:base64|hex)$/.test(args[1]?.text ?? '')
      ? decoded(args[0], args[1]?.text as 'base64' | 'hex')
      : args[0],
  fromhex: (args) => decoded(args[0], 'hex'),
  unhexlify: (args) => decoded(args[0], 'hex'),
  hex2bin: (args) => decoded(args[0], 'hex'),
  reverse: (_, on) => reversed(on),
  strrev: (args) => reversed(args[0]),
  reversed: (args) => reversed(args[0]),
  decode: same,
  encode: same,
  toString: same,
  strip: same,
  trim: same,
  as_posix: same,
  read: () => undefined,
  replace: ([from, to], on) =>
    on === undefined ||
    from === undefined ||
    to === undefined ||
    from.text === '' ||
    on.text.includes(unknownText)
      ? undefined
      : replaced(on.text, from.text, to.text),
  format: (args, on) =>
    on === undefined
      ? args[0]
      : args.reduce((value, arg) => textValue(value.text.replace(/\{\w*\}/, () => arg.text)), on),
  split: (args, on) =>
    on === undefined || on.text.includes(unknownText)
      ? undefined
      : { ...listValue(on.text.split(args[0]?.text ?? /\s+/).map(textValue)), text: on.text },
};

/** The result of a call, where it is constant. */
export function pureCall({ chain, args, on }: Call): Value | undefined {
  const name = chain.at(-1) ?? '';
  return Object.hasOwn(table, name) ? table[name]?.(args, on) : undefined;
}

function joined(items: readonly Value[], by: string): Value {
  return by.length * items.length > 16_384
    ? textValue('')
    : textValue(items.map(({ text }) => text).join(by));
}

function first(args: readonly Value[]): Value | undefined {
  return args[0];
}

function same(_: readonly Value[], on: Value | undefined): Value | undefined {
  return on;
}

function character(args: readonly Value[]): Value {
  const codes = args.map(({ text }) => Number(text));
  return textValue(
    codes.some((code) => !(code >= 0 && code < 0x110000)) ? unknownText : String.fromCodePoint(...codes),
  );
}

function decoded(value: Value | undefined, encoding: 'base64' | 'hex'): Value | undefined {
  if (value === undefined || value.text.includes(unknownText)) return undefined;
  return textValue(Buffer.from(value.text, encoding).toString('utf8'));
}

function reversed(value: Value | undefined): Value | undefined {
  return value === undefined ? undefined : textValue([...value.text].reverse().join(''));
}
