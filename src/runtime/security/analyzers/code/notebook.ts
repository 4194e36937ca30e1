/** Code cells as their kernels read them: shells, magic commands and escapes first, the language itself after that. */
import { unknownText } from '../paths/place.js';
import { write } from '../programs/file-effects.js';
import { judgeAssignment } from '../programs/variables.js';
import type { Scope } from '../shell/scope.js';
import { judgeCode } from './judge.js';

const shells = /^(?:ba|da|z|k|c|tc|fi)?sh(?:ell)?$|bash|powershell|^pwsh$/;
/** Kernels without magic commands: a line that begins with ! or % means something else there. */
const plainLanguages =
  /^(?:javascript|typescript|deno|node|js|ts|tslab|ijavascript|r|ir|ruby|iruby|go|gonb|gophernotes|rust|evcxr|java|ijava|kotlin|scala|almond|haskell|ihaskell|lua|perl|php|c|cpp|xcpp\d*|c\+\+.*|sql|julia.*|octave|csharp|fsharp)$/;

/** Judges one code cell in the language, or for the kernel, of that name. */
export function judgeCell(code: string, named: string, scope: Scope): void {
  const language = named.toLowerCase();
  if (shells.test(language)) scope.read(code);
  else if (plainLanguages.test(language)) judgeCode(code, scope, aliases[language] ?? language);
  else judgeNotebook(code, scope);
}

const aliases: Readonly<Record<string, string | undefined>> = {
  javascript: 'node',
  typescript: 'ts',
  js: 'node',
  ijavascript: 'node',
};

function judgeNotebook(code: string, scope: Scope): void {
  const text = code.replace(/^(?:[ \t]*\r?\n)+/, '').replace(/\\\r?\n/g, ' ');
  const cell = /^[ \t]*%%([\w!]+)[ \t]*([^\r\n]*)(?:\r?\n|$)([\s\S]*)$/.exec(text);
  if (cell !== null) {
    judgeCellMagic(cell[1] ?? '', cell[2] ?? '', cell[3] ?? '', scope);
    return;
  }
  for (const [, name = '', , value = ''] of text.matchAll(constant)) scope.set(name, value);
  const rest = text.split(/\r?\n/).map((line) => (judgeLine(line, scope) ? 'pass' : line));
  judgeCode(rest.join('\n'), scope, 'python');
  judgeMagicCalls(text, scope);
}

/** Python fills its variables into the commands of a code cell. */
const constant = /^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*(["'])((?:(?!\2)[^\\\n])*)\2[ \t]*;?[ \t]*(?:#.*)?$/gm;

/** True when the line is no Python but something that the kernel itself carries out. */
function judgeLine(given: string, scope: Scope): boolean {
  const line = given.replace(/^[ \t]*(?:>>> ?|\.\.\. ?|In \[\d+\]: ?)?/, '').trimStart();
  const [, assigned] = /^[\w.,\s[\]'"]+=\s*([!%].*)$/.exec(line) ?? [];
  const text = assigned ?? line;
  if (text.startsWith('!')) {
    scope.read(filledIn(text.replace(/^!+/, ''), scope));
    return true;
  }
  const [, name, rest = ''] = /^%([\w!]+)[ \t]*(.*)$/.exec(text) ?? automagic.exec(text) ?? [];
  if (name !== undefined) {
    judgeLineMagic(name, rest, scope);
    return true;
  }
  // `;f a b` is f("a b") and `,f a b` is f("a", "b"); `/f a` is f(a).
  const [, mark, called, words = ''] = /^([;,/])([A-Za-z_][\w.]*)[ \t]+(.*)$/.exec(text) ?? [];
  if (called === undefined) return false;
  const args =
    mark === ';'
      ? JSON.stringify(words)
      : mark === ','
        ? words
            .split(/\s+/)
            .map((word) => JSON.stringify(word))
            .join(', ')
        : words;
  judgeCode(`${called}(${args})`, scope, 'python');
  return true;
}

/** These work without a % unless the code defines that name. */
const automagic =
  /^(cat|cp|ls|ll|mkdir|mv|rm|rmdir|more|less|man|pip|conda|mamba|micromamba|uv|cd|sx|system|env|set_env|run|alias|bash)[ \t]+(?![=(,.\])+*/|&<>^:-]=?[ \t])(.+)$/;

const shellMagics = /^(?:sx|system|!|bash|sh|zsh)$/;
const commandMagics =
  /^(?:cat|cp|ls|ll|lf|lk|lx|ldir|mkdir|mv|rm|rmdir|more|less|man|pip|conda|mamba|micromamba|uv)$/;
const codeMagics =
  /^(?:time|timeit|prun|memit|mprun|lprun|debug|capture|px|autopx|python|python2|python3|pypy)$/;
const harmlessMagics =
  /^(?:matplotlib|pylab|load_ext|reload_ext|unload_ext|autoreload|config|who|who_ls|whos|reset|reset_selective|xdel|precision|pprint|page|pdef|pdoc|pfile|pinfo|pinfo2|psource|psearch|xmode|colors|autocall|automagic|magic|lsmagic|quickref|doctest_mode|gui|logstop|logon|logoff|logstate|pdb|pwd|recall|rerun|tb|unalias|bookmark|dhist|dirs|popd|rehashx|alias_magic|connect_info|qtconsole|html|HTML|svg|SVG|latex|markdown|javascript|js|sql|R|cython|tensorboard|watermark|notify|colabx?|subplots)$/;

function judgeLineMagic(name: string, rest: string, scope: Scope): void {
  if (shellMagics.test(name)) scope.read(filledIn(rest, scope));
  else if (commandMagics.test(name)) scope.read(filledIn(`${name} ${rest}`, scope));
  else if (name === 'cd' || name === 'pushd') scope.readHere(filledIn(`cd ${rest}`, scope));
  else if (name === 'env' || name === 'set_env') {
    const [, variable, value] = /^(\w+)[ \t]*[= \t][ \t]*(.*)$/.exec(rest) ?? [];
    if (variable !== undefined) judgeAssignment(variable, filledIn(value ?? '', scope), scope);
  } else if (name === 'alias') scope.read(rest.replace(/^\S+\s*/, '').replace(/%[ls]/g, unknownText));
  else if (name === 'run' || name === 'edit' || name === 'load')
    scope.read(filledIn(`python3 ${rest}`, scope));
  else if (writingMagics.test(name)) judgeWrites(name, rest, scope);
  else if (name === 'macro' || codeMagics.test(name)) judgeNotebook(withoutOptions(rest), scope);
  else if (!harmlessMagics.test(name))
    scope.findings.add('unknown', `A code cell uses %${name}, which nobody knows.`);
}

const writingMagics = /^(?:logstart|notebook|save|history|hist|store)$/;

/** Magic commands that can write a file: any of their words can be its name. */
function judgeWrites(name: string, rest: string, scope: Scope): void {
  const words = rest.split(/[\s>]+/).filter((word) => word !== '' && !word.startsWith('-'));
  const named = name === 'store' ? (rest.includes('>') ? words.slice(1) : []) : words;
  for (const word of named) write(filledIn(word, scope), scope, 'Writes');
}

function judgeCellMagic(name: string, args: string, body: string, scope: Scope): void {
  if (name === 'script') judgeScript(args, body, scope);
  else if (shellMagics.test(name)) judgeScript('bash', body, scope);
  else if (/^(?:perl|ruby|node|deno)$/.test(name)) judgeCode(body, scope, name);
  else if (/^(?:writefile|file)$/.test(name)) {
    const words = args.split(/\s+/);
    const path = words.find((word) => !word.startsWith('-')) ?? '';
    write(filledIn(path, scope), scope, 'Writes', body, words.includes('-a'));
  } else if (codeMagics.test(name)) {
    judgeNotebook(withoutOptions(args), scope);
    judgeNotebook(body, scope);
  } else if (name === 'cython' || name === 'R') judgeCode(body, scope, name === 'R' ? 'R' : 'python');
  else if (!harmlessMagics.test(name))
    scope.findings.add('unknown', `A code cell uses %%${name}, which nobody knows.`);
}

/** A program that gets the rest of the code cell as its input. */
function judgeScript(args: string, body: string, scope: Scope): void {
  const program = filledIn(withoutOptions(args), scope) || 'bash';
  const outside = scope.input;
  scope.input = { from: [], text: body };
  scope.read(program);
  scope.input = outside;
}

function withoutOptions(args: string): string {
  return args.replace(/^(?:--?[\w-]+(?:[= ](?!\S*[;|&(])[\w.]+)?\s+)+/, '');
}

/** The kernel fills in `{name}` before the shell sees it. */
function filledIn(source: string, scope: Scope): string {
  return source
    .replace(/\{\{/g, '{')
    .replace(
      /(?<![$\\])\{([A-Za-z_][^{},\s]*)\}/g,
      (_, name: string) => scope.variables.get(name)?.text ?? unknownText,
    );
}

const magicCall =
  /\.\s*(?:run_line_magic|run_cell_magic|magic|run_cell|ex|system|system_piped|system_raw|getoutput|getoutput_piped|sx)\s*\(\s*((?:[^()]|\([^()]*\))*)\)/g;

/** `get_ipython().run_line_magic('sx', '…')` and similar calls, whatever name the shell has there. */
function judgeMagicCalls(code: string, scope: Scope): void {
  for (const [whole, args = ''] of code.matchAll(magicCall)) {
    const words = [...args.matchAll(/(?:[rRfFbBuU]{0,2})("""|'''|"|')((?:\\[\s\S]|(?!\1)[\s\S])*)\1/g)].map(
      (match) => unescaped(match[2] ?? ''),
    );
    const [first = '', second = '', third = ''] = words;
    if (/run_line_magic/.test(whole)) judgeLineMagic(first, second, scope);
    else if (/run_cell_magic/.test(whole)) judgeCellMagic(first, second, third, scope);
    else if (/\.\s*magic/.test(whole)) judgeLine(`%${first.replace(/^%/, '')}`, scope);
    else if (/run_cell|\.\s*ex\b/.test(whole)) judgeNotebook(first, scope);
    else if (first !== '') scope.read(first);
  }
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|n|t|(['"\\]))/g,
    (whole, byte, unit, mark) => {
      if (whole === '\\n') return '\n';
      if (whole === '\\t') return '\t';
      return mark ?? String.fromCharCode(Number.parseInt(byte ?? unit, 16));
    },
  );
}
