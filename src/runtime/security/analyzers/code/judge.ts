/** Judges code of other languages by what it calls, and by what goes together in it. */

import { quote } from '../../../../base/shell-quote.js';
import { judgeAddress } from '../actions/addresses.js';
import { judgeRemoval } from '../paths/changes.js';
import { unknownText } from '../paths/place.js';
import { judgeRead } from '../paths/sensitive.js';
import { write } from '../programs/file-effects.js';
import { judgeAssignment } from '../programs/variables.js';
import type { Scope } from '../shell/scope.js';
import { type Effect, effectOf, isActing } from './effects.js';
import { readCalls } from './reader.js';

const longestCode = 50_000;

interface Pattern {
  /** All of them must be in the code. */
  readonly all: readonly RegExp[];
  readonly reason: string;
}

const socket =
  /\bsocket\b|fsockopen|TCPSocket|require\(['"](?:net|tls|dgram)['"]\)|net\.(?:connect|Socket|createConnection)|IO::Socket|\/inet\/(?:tcp|udp)\//;
const starts =
  /dup2|pty\.spawn|\/bin\/(?:ba|z|da)?sh|child_process|subprocess|[a-z_]*exec\b|\bsystem\b|passthru|proc_open|os\.execute|popen|spawn|cmd\.exe|getline/;
const fetches =
  /urlopen|urlretrieve|requests\.(?:get|post)|urllib|https?\.get\b|\bfetch\(|require\(['"]https?['"]\)\.(?:get|request)|\bget\s*\(?\s*['"]https?:|Net::HTTP|LWP|open-uri|URI\.open|file_get_contents\(\s*['"]https?:|httpx|curl_exec/;
const posts =
  /requests\.(?:post|put)|method\s*[:=]\s*['"](?:POST|PUT)|urlopen\([^)]*data|http\.client|\.sendall?\(|Net::HTTP\.post|https?\.request/;
const runs =
  /\b(?:exec|eval|compile|execfile|os\.system|system|popen|Function|instance_eval|vm\.run\w*|loadstring)\s*\(|\bsubprocess\b|child_process|\beval\b/;
const decodes =
  /b64decode|atob\(|'base64'|"base64"|unhexlify|fromhex|bytes\.fromhex|decode_base64|Base64\.decode|base64_decode|pack\s*\(?\s*['"]H|codecs\.decode|zlib\.decompress|marshal\.loads|\.decode\(\s*['"]hex|(?:chr\(\d+\)[.+\s]*){4,}|\bbytes(?:array)?\s*\(\s*\[|\bmap\(\s*chr\b/;

const patterns: readonly Pattern[] = [
  { all: [socket, starts], reason: 'Connects a shell to the network.' },
  { all: [fetches, runs], reason: 'Fetches code from the network and runs it.' },
  { all: [decodes, runs], reason: 'Runs code that is hidden in an encoding.' },
  {
    all: [
      /\bfork\b\s*(?:\(\s*\))?\s*;?\s*while\s*\(?\s*(?:\bfork\b|1|true)|while\s*(?:\(\s*)?(?:True|1|true)[\s\S]{0,200}[\s:({](?:os\.)?fork|loop\s*(?:\{|do)\s*fork|fork\(\)\s*while|while\s+fork|spawn\(process\.argv|:\s*os\.fork\(\)/,
    ],
    reason: 'Starts copies of itself without end.',
  },
  {
    all: [/\bfork\b/, /\biter\(int|itertools\.(?:count|repeat|cycle)|for\s*\(\s*;\s*;|\bloop\b|\bforever\b/],
    reason: 'Starts copies of itself without end.',
  },
  {
    all: [
      /os\.environ(?!\s*(?:\[|\.get))|process\.env(?![.[])|ENV\.to_h|%ENV|\$_ENV|getenv\(\)/,
      new RegExp(`${posts.source}|${fetches.source}|${socket.source}`),
    ],
    reason: 'Sends the variables of the environment over the network.',
  },
  {
    all: [
      /keyring\.get_password|secretstorage|browser_?cookie3|win32crypt|keytar\b|SecretService|CryptUnprotectData|get_secret_value|getSecretValue|GetSecretValueCommand/,
    ],
    reason: 'Reads passwords that are kept for safety.',
  },
  {
    all: [/\bset(?:re)?[ug]id\(\s*0|\bcap_setuid|\$[<>(]\s*=\s*0|Process::Sys\.setuid/],
    reason: 'Takes the rights of root.',
  },
  {
    all: [/\bos\.kill\(\s*-1|process\.kill\(\s*-1|kill\s*\(?\s*['"]?(?:9|KILL)['"]?\s*,\s*-1/],
    reason: 'Ends every process it may end.',
  },
];

const quotedCalls = /`([^`]+)`|\bqx\s*[{(/|]([^})/|]+)|%x\s*[{([]([^})\]]+)/g;
const literals = /(['"`])((?:\\.|(?!\1).){2,400}?)\1/g;
const slashLanguages = /^(?:node|deno|bun|ts|php|go|java|jshell|groovy|scala|kotlin)/;
const bareLanguages = /^(?:perl|ruby|jruby|php|lua|tclsh|crystal|osascript|a )/;
const lisps = /^(?:emacs|guile|racket|sbcl|clojure|clj)$/;
const bareShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k)?sh(?:\s+-[ilp]+)?\s*$/;

/** Returns what the code prints, where that is constant. */
export function judgeCode(code: string, scope: Scope, language: string): string | undefined {
  if (code === '') return undefined;
  if (code.length > longestCode) {
    scope.findings.add('unknown', `Code for ${language} is too large to be judged.`);
    return undefined;
  }
  return scope.findings.nested(() => judgeHere(code, scope, language), undefined);
}

/** Ways to start a program, also where code only names them: the call itself may stand elsewhere. */
const capable =
  /\b(?:system|popen\w*|spawn\w*|exec[vl]\w*|execSync|posix_spawn\w*|subprocess|child_process|get_ipython|getoutput|CDLL|__import__|import_module)\b/;
const anyText = /(["'`])((?:\\.|(?!\1).){0,400}?)\1/g;
const mostSuspects = 200;

/** Judges each text in code that can start programs as if it were the command. */
function suspectTexts(code: string, scope: Scope): void {
  // Texts side by side are one.
  const glued = code.replace(/(["'])\s*\n?\s*\1/g, '');
  for (const source of new Set([code, glued])) {
    const texts = [...source.matchAll(anyText)].map((match) => match[2] ?? '');
    for (const text of texts.filter((found) => /\S\s+\S/.test(found)).slice(0, mostSuspects))
      scope.suspect(text);
  }
}

function judgeHere(given: string, scope: Scope, language: string): string | undefined {
  // Python compares names in this form; the other languages know no such letters.
  const code = /[^\0-\x7f]/.test(given) ? given.normalize('NFKC') : given;
  const bare = /\b(?:exec|eval)\b/.test(code) ? code : withoutProse(code);
  for (const { all, reason } of patterns)
    if (all.every((expression) => expression.test(bare))) scope.high(`Code for ${language}: ${reason}`);
  if (unseen.test(bare)) scope.medium(`Code for ${language} runs a file that is not seen.`);
  judgeVariables(code, scope);
  for (const [, source = ''] of code.matchAll(/\bdo shell script "((?:\\.|[^"\\])*)"/g))
    scope.read(source.replaceAll('\\"', '"'));
  if (capable.test(bare)) suspectTexts(code, scope);
  const slashes = slashLanguages.test(language);
  if (!/^(?:node|deno|bun|tsx?|ts-node|python|pypy)/.test(language))
    for (const match of code.matchAll(quotedCalls)) scope.read(match[1] ?? match[2] ?? match[3] ?? '');
  const sends = posts.test(bare) || socket.test(bare) || fetches.test(bare);
  const recursive = /recursive["']?\s*[:=]\s*(?:true|1)/i.test(code);
  if (/awk$/.test(language)) judgeAwk(code, scope);
  if (lisps.test(language)) judgeLisp(code, scope);
  const always = bareLanguages.test(language);
  const prints: string[] = [];
  for (const call of readCalls(code, slashes, (name) => always && isActing(name))) {
    for (const { text } of [...call.args, ...(call.on === undefined ? [] : [call.on])])
      judgeLiteral(text, scope, language, sends);
    const effect = effectOf(call, language);
    if (effect?.kind === 'print') prints.push(effect.text);
    else if (effect !== undefined) apply(recursive ? deepened(effect) : effect, scope, language);
  }
  for (const match of code.matchAll(literals)) judgeLiteral(match[2] ?? '', scope, language, sends);
  if (
    /\b(?:rmtree|rm_rf|remove_tree|rimraf|unlink|finddepth|find|nftw)\b/.test(bare) &&
    /\bsub\b|File::Find|lambda|array_map|\bmap\b/.test(bare)
  )
    for (const match of code.matchAll(literals))
      if (/^[/~]/.test(match[2] ?? '')) report(judgeRemoval(scope.place(match[2] ?? ''), true), scope);
  return prints.length === 0 || prints.some((text) => text.includes(unknownText))
    ? undefined
    : prints.join('');
}

/** A removal with the option that takes everything below. */
function deepened(effect: Exclude<Effect, { kind: 'print' }>): Exclude<Effect, { kind: 'print' }> {
  if (effect.kind !== 'command' || effect.argv[0] !== 'rm') return effect;
  return { kind: 'command', argv: ['rm', '-rf', ...effect.argv.slice(2)] };
}

/** Code that comes out of a file and runs. */
const unseen = /\brunpy\b|\bexecfile\s*\(|\bexec\s*\(\s*(?:compile\s*\(\s*)?(?:open|Path)\s*\(/;

/** `os.environ['X'] = 'y'`, `putenv('X', 'y')`, `process.env.X = 'y'`, `ENV['X'] = 'y'`, `$ENV{X} = 'y'`. */
const settings =
  /(?:\benviron(?:\.setdefault)?|\b(?:os\.)?(?:putenv|setenv|unsetenv)|\bENV|process\.env|\$ENV)\s*[[({.]\s*b?["']?([A-Za-z_]\w*)["']?\s*[\])}]?\s*(?:=(?!=)|,|=>)\s*(?:b?(["'`])([^\n]*?)\2)?/g;
const entries = /["']?([A-Za-z_]\w*)["']?\s*[:=]\s*b?(["'])([^\n]*?)\2/g;

/** Variables that code sets, for itself and for what it starts. */
function judgeVariables(code: string, scope: Scope): void {
  if (!/environ|putenv|setenv|process\.env|\bENV\b/.test(code)) return;
  for (const [, name = '', , value] of code.matchAll(settings)) judgeSet(name, value, scope);
  for (const [, table = ''] of code.matchAll(/environ(?:\.update\s*\(|\s*\|=)\s*([^)\n]*)/g))
    for (const [, name = '', , value] of table.matchAll(entries)) judgeSet(name, value, scope);
}

function judgeSet(name: string, value: string | undefined, scope: Scope): void {
  if (value !== undefined) judgeAssignment(name, value, scope);
  else if (
    /^(?:LD_|DYLD_)|^(?:BASH_ENV|ENV|PYTHONSTARTUP|NODE_OPTIONS|PERL5OPT|RUBYOPT|PROMPT_COMMAND)$/.test(name)
  )
    scope.medium(`Sets ${name}, by which other programs load code.`);
}

/** What awk sends to a program, and what it reads from one. */
function judgeAwk(code: string, scope: Scope): void {
  for (const [, text = '', program = ''] of code.matchAll(
    /printf?\s*\(?"((?:\\.|[^"\\])*)"[^;|}]*\|&?\s*"([^"]+)"/g,
  ))
    scope.read(`echo ${quote(text)} | ${program}`);
  for (const [, source = ''] of code.matchAll(/"([^"]+)"\s*\|&?\s*getline/g)) scope.read(source);
}

/** `(name "text" …)`: the functions of Lisps under the names of commands. */
function judgeLisp(code: string, scope: Scope): void {
  for (const [, name = '', rest = ''] of code.matchAll(
    /\(([\w:*!/-]+)\s+((?:'?\(?\s*"(?:\\.|[^"\\])*"\)?\s*)+)/g,
  )) {
    const words = [...rest.matchAll(/"((?:\\.|[^"\\])*)"/g)].map((match) => match[1] ?? '');
    if (/delete-(?:directory|file|tree)/.test(name)) scope.read(['rm', '-rf', ...words].map(quote).join(' '));
    else if (
      /shell-command|^(?:system|sh|shell)$|run-program|run-shell|call-process|start-process|process\*?|subprocess/.test(
        name,
      )
    )
      scope.read(words.length === 1 ? (words[0] ?? '') : words.map(quote).join(' '));
  }
}

/** Judges an effect like the command that has the same one. */
function apply(effect: Exclude<Effect, { kind: 'print' }>, scope: Scope, language: string): void {
  switch (effect.kind) {
    case 'command':
    case 'shell': {
      const source = effect.kind === 'shell' ? effect.source : effect.argv.map(quote).join(' ');
      if (source === '' || source.trim() === unknownText) return;
      if (bareShell.test(effect.kind === 'shell' ? source : effect.argv.join(' ')))
        scope.high(`Code for ${language} opens a shell.`);
      scope.read(source);
      return;
    }
    case 'code':
      if (!effect.source.includes(unknownText)) judgeCode(effect.source, scope, language);
      return;
    case 'write':
      write(
        effect.path,
        scope,
        'Writes',
        effect.text?.includes(unknownText) ? undefined : effect.text,
        effect.append,
      );
  }
}

/** The code without its sentences: a text with spaces that nothing runs is only for printing. */
function withoutProse(code: string): string {
  return code.replace(literals, (whole, mark: string, text: string) =>
    /\s/.test(text) && !/\/bin\//.test(text) ? mark + mark : whole,
  );
}

function judgeLiteral(text: string, scope: Scope, language: string, sends: boolean): void {
  if (/^https?:/.test(text)) {
    scope.addresses.push(text);
    const found = judgeAddress(text);
    if (found?.risk === 'high') scope.high(found.reason);
  }
  if (text.length > 400 || !/^(?:[/~]|\.[a-z]+\/)/.test(text)) return;
  const path = /^\.(?:ssh|aws|kube|gnupg|netrc|docker)\b/.test(text) ? `~/${text}` : text;
  const found = judgeRead(scope.place(path));
  if (found !== undefined)
    scope.findings.add(sends ? 'high' : found.risk, `Code for ${language} names ${found.what}: ${text}`);
}

function report(found: { risk: 'high' | 'medium'; reason: string } | undefined, scope: Scope): void {
  if (found !== undefined) scope.findings.add(found.risk, found.reason);
}
