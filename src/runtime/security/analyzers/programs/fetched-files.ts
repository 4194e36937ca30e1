/** The files that a fetching program writes, by its options. */
import { own } from '../lookup.js';

interface Options {
  /** Options that take a name for the fetched document. */
  readonly document: string;
  /** Options that take the directory for it. */
  readonly directory: string;
  /** Options that take a name for another file that the program writes: logs, cookies, headers. */
  readonly beside: string;
  /** Letters of all options that take a value, which may follow in the same word: `-sSLo file`, `-ofile`. */
  readonly valued: string;
  /** The program makes a name from the address: always, or with one of these options. */
  readonly named: 'always' | string;
}

const httpie: Options = {
  document: '-o --output',
  directory: '',
  beside: '--session --session-read-only',
  valued: 'oabpsA',
  named: '-d --download',
};

const downloaders: Readonly<Record<string, Options>> = {
  curl: {
    document: '-o --output',
    directory: '--output-dir',
    beside:
      '-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl --ssl-sessions',
    valued: 'oDcAbCdeEFHhKmPQrtTuUwxXyYz',
    named: '-O --remote-name --remote-name-all',
  },
  wget: {
    document: '-O --output-document',
    directory: '-P --directory-prefix',
    beside: '-o --output-file -a --append-output --save-cookies --warc-file --hsts-file --rejected-log',
    valued: 'oOaPUeitTwQBlARDIX',
    named: 'always',
  },
  wget2: {
    document: '-O --output-document',
    directory: '-P --directory-prefix',
    beside: '-o --output-file -a --append-output --save-cookies --hsts-file',
    valued: 'oOaPUeitTwQBlARDIX',
    named: 'always',
  },
  aria2c: {
    document: '-o --out',
    directory: '-d --dir',
    beside: '-l --log --save-session --save-cookies',
    valued: 'odlijkmsxtuUMTZPS',
    named: 'always',
  },
  axel: { document: '-o --output', directory: '', beside: '', valued: 'onsHUST', named: 'always' },
  fetch: { document: '-o --output', directory: '', beside: '', valued: 'oBhcfNSTwi', named: 'always' },
  http: httpie,
  https: httpie,
  xh: httpie,
};

export interface Fetched {
  /** Files with what came from the network. */
  readonly documents: readonly string[];
  readonly beside: readonly string[];
}

export function filesFetched(program: string, args: readonly string[]): Fetched {
  const options = own(downloaders, program);
  if (options === undefined) return { documents: [], beside: [] };
  const values = (names: string) => valuesOf(args, names, options.valued).filter((name) => name !== '-');
  const directory = values(options.directory).at(-1);
  const below = (name: string) =>
    directory === undefined || /^[~/]/.test(name) ? name : `${directory.replace(/\/$/, '')}/${name}`;
  const given = valuesOf(args, options.document, options.valued);
  const isNamed = options.named === 'always' || isThere(args, options.named, options.valued);
  const names = isNamed && (given.length === 0 || program === 'curl') ? args.flatMap(nameInAddress) : [];
  // wget puts a document where its name says, whatever directory the others go to.
  const documents = values(options.document).map(program.startsWith('wget') ? (name) => name : below);
  return { documents: [...documents, ...names.map(below)], beside: values(options.beside) };
}

/** `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`, and beginnings of long names, which these programs accept. */
function valuesOf(args: readonly string[], names: string, valued: string): string[] {
  return args.flatMap((arg, index) => {
    if (arg.startsWith('--')) {
      const [long = '', ...rest] = arg.split('=');
      if (!isLong(long, names)) return [];
      return [rest.length > 0 ? rest.join('=') : (args[index + 1] ?? '')];
    }
    const at = valueAt(arg, valued);
    if (at === -1 || !names.split(' ').includes(`-${arg[at]}`)) return [];
    return [arg.length > at + 1 ? arg.slice(at + 1).replace(/^=/, '') : (args[index + 1] ?? '')];
  });
}

function isThere(args: readonly string[], names: string, valued: string): boolean {
  return args.some((arg) => {
    if (arg.startsWith('--')) return isLong(arg, names);
    const at = valueAt(arg, valued);
    const letters = /^-\w/.test(arg) ? arg.slice(1, at === -1 ? undefined : at) : '';
    return [...letters].some((letter) => names.split(' ').includes(`-${letter}`));
  });
}

function isLong(given: string, names: string): boolean {
  return given.length >= 5 && names.split(' ').some((name) => name.startsWith(given));
}

/** Where in a word of short options the first one stands that takes a value. */
function valueAt(arg: string, valued: string): number {
  if (!/^-\w/.test(arg)) return -1;
  return [...arg].findIndex((letter, index) => index > 0 && valued.includes(letter));
}

function nameInAddress(arg: string): string[] {
  const name =
    /^(?:https?|ftp):\/\/[^?#]+\/([^/?#]+)/.exec(arg)?.[1] ??
    /^[\w.-]+\.[a-z]{2,}\/(?:.*\/)?([^/?#]+)$/.exec(arg)?.[1];
  return name === undefined ? [] : [name];
}
