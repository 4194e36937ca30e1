/** Judges code of other languages by what it calls. There is no grammar here, so only plain forms are seen. */

import { judgeAddress } from '../actions/addresses.js';
import { judgeRemoval, judgeWrite } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Scope } from './scope.js';

const longestCode = 50_000;

interface Pattern {
  /** All of them must be in the code. */
  readonly all: readonly RegExp[];
  readonly reason: string;
}

const socket =
  /\bsocket\b|fsockopen|TCPSocket|require\(['"](?:net|tls|dgram)['"]\)|net\.(?:connect|Socket|createConnection)|IO::Socket|\/inet\/(?:tcp|udp)\//;
const starts =
  /dup2|pty\.spawn|\/bin\/(?:ba|z|da)?sh|child_process|subprocess|\bexec\b|\bsystem\b|popen|spawn|cmd\.exe|getline/;
const fetches =
  /urlopen|urlretrieve|requests\.(?:get|post)|urllib|https?\.get\b|\bfetch\(|require\(['"]https?['"]\)\.(?:get|request)|\bget\s*\(?\s*['"]https?:|Net::HTTP|LWP|open-uri|URI\.open|file_get_contents\(\s*['"]https?:|httpx|curl_exec/;
const posts =
  /requests\.(?:post|put)|method\s*[:=]\s*['"](?:POST|PUT)|urlopen\([^)]*data|http\.client|\.sendall?\(|Net::HTTP\.post|https?\.request/;
const runs =
  /\b(?:exec|eval|compile|execfile|os\.system|system|popen|Function|instance_eval|vm\.run\w*|loadstring)\s*\(|\bsubprocess\b|child_process|\beval\b/;
const decodes =
  /b64decode|atob\(|'base64'|"base64"|unhexlify|fromhex|bytes\.fromhex|decode_base64|Base64\.decode|base64_decode|pack\s*\(?\s*['"]H|codecs\.decode|zlib\.decompress|marshal\.loads|\.decode\(\s*['"]hex|(?:chr\(\d+\)[.+\s]*){4,}/;

const patterns: readonly Pattern[] = [
  { all: [socket, starts], reason: 'Connects a shell to the network.' },
  { all: [fetches, runs], reason: 'Fetches code from the network and runs it.' },
  { all: [decodes, runs], reason: 'Runs code that is hidden in an encoding.' },
  {
    all: [
      /\bfork\b\s*(?:\(\s*\))?\s*;?\s*while\s*\(?\s*(?:\bfork\b|1|true)|while\s*(?:\(\s*)?(?:True|1|true)[^\n]{0,200}[\s:({](?:os\.)?fork|loop\s*(?:\{|do)\s*fork|fork\(\)\s*while|while\s+fork|spawn\(process\.argv|:\s*os\.fork\(\)/,
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
    all: [/\bset(?:re)?[ug]id\(\s*0|\bcap_setuid|\$[<>(]\s*=\s*0|Process::Sys\.setuid/],
    reason: 'Takes the rights of root.',
  },
  {
    all: [/\bos\.kill\(\s*-1|process\.kill\(\s*-1|kill\s*\(?\s*['"]?(?:9|KILL)['"]?\s*,\s*-1/],
    reason: 'Ends every process it may end.',
  },
];

/** Calls whose text is shell source. */
const shellCalls =
  /(?:\bos\.(?:system|popen)|\bsubprocess\.\w+|\bcommands\.getoutput|\bgetoutput|\bexecSync|\bspawnSync|\bexecFileSync|\bexec|\bspawn|\bexecFile|\bsystem|\bpopen|\bshell_exec|\bpassthru|\bproc_open|\bIO\.popen|\bpty\.spawn|\bos\.exec\w+|\bexecv?p?e?|do shell script|\bsh)\s{0,20}(?:\(\s{0,20})?((?:\[[^\]]*\]|(?:['"`](?:\\.|(?!['"`]).)*['"`]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')(?:\s*,\s*(?:\[[^\]]*\]|'[^']*'|"[^"]*"))*))/g;
const quotedCalls = /`([^`]+)`|\bqx\s*[{(/|]([^})/|]+)|%x\s*[{([]([^})\]]+)/g;
const removalCalls =
  /\b(?:rmtree|rm_rf?|rm_r|remove_tree|rmSync|rmdirSync|rimraf|removeSync|remove_dir_all|rmdir|unlinkSync|unlink|os\.remove|FileUtils\.\w*rm\w*|rm)\s*\(?\s*(?:glob\(?\s*|os\.path\.expanduser\(\s*|Path\(\s*|os\.homedir\(\)|glob\.glob\(\s*)?(['"])((?:(?!\1).){1,400})\1/g;
const writeCalls =
  /\b(?:open|File\.open|File\.write|writeFileSync|writeFile|appendFileSync|appendFile|file_put_contents|Path|fopen)\s*\(?\s*(?:os\.path\.expanduser\(\s*)?(['"])((?:(?!\1).){1,400})\1\)?(?:\s*,\s*(?:'[rb]*[wax+][^']*'|"[rb]*[wax+][^"]*")|\)?\.write_text)?/g;
const literals = /(['"`])((?:\\.|(?!\1).){2,400}?)\1/g;

export function judgeCode(code: string, scope: Scope, language: string): void {
  if (code === '') return;
  if (code.length > longestCode) {
    scope.findings.add('unknown', `Code for ${language} is too large to be judged.`);
    return;
  }
  const bare = /\b(?:exec|eval)\b/.test(code) ? code : withoutProse(code);
  for (const { all, reason } of patterns)
    if (all.every((expression) => expression.test(bare))) scope.high(`Code for ${language}: ${reason}`);
  for (const match of code.matchAll(shellCalls)) runShellText(match[1] ?? '', scope);
  if (!/^(?:node|deno|bun|tsx?|ts-node)/.test(language))
    for (const match of code.matchAll(quotedCalls)) scope.read(match[1] ?? match[2] ?? match[3] ?? '');
  for (const match of code.matchAll(removalCalls)) {
    const recursive = /rmtree|rm_r|remove_tree|rmSync|rimraf|removeSync|remove_dir_all|glob/.test(match[0]);
    report(judgeRemoval(scope.place(match[2] ?? ''), recursive), scope);
  }
  if (
    /\b(?:rmtree|rm_rf|remove_tree|rimraf|remove_dir_all)\b|rmSync[\s\S]*recursive|(?:os\.(?:remove|unlink)|unlinkSync|\bunlink)[\s\S]*(?:listdir|readdir|glob|os\.walk)/.test(
      bare,
    )
  ) {
    if (/homedir\(\)|Path\.home\(\)|expanduser\(['"]~['"]\)|Dir\.home|ENV\[['"]HOME/.test(bare))
      scope.high('Removes a home directory.');
    for (const match of code.matchAll(literals))
      if (/^[/~]/.test(match[2] ?? '')) report(judgeRemoval(scope.place(match[2] ?? ''), true), scope);
  }
  for (const match of code.matchAll(writeCalls)) {
    const writes = /['"][rb]*[wax+][^'"]*['"]$|write|append|put_contents/.test(
      match[0].slice((match[2] ?? '').length),
    );
    if (writes) report(judgeWrite(scope.place(match[2] ?? '')), scope);
  }
  for (const match of code.matchAll(literals)) judgeLiteral(match[2] ?? '', scope, language);
}

/** The code without its sentences: a text with spaces that nothing runs is only printed. */
function withoutProse(code: string): string {
  return code.replace(literals, (whole, mark: string, text: string) =>
    /\s/.test(text) && !/\/bin\//.test(text) ? mark + mark : whole,
  );
}

function judgeLiteral(text: string, scope: Scope, language: string): void {
  if (/^https?:/.test(text)) {
    const found = judgeAddress(text);
    if (found?.risk === 'high') scope.high(found.reason);
  }
  if (!/^(?:[/~]|\.[a-z]+\/)/.test(text)) return;
  const path = /^\.(?:ssh|aws|kube|gnupg|netrc|docker)\b/.test(text) ? `~/${text}` : text;
  const found = judgeRead(scope.place(path));
  if (found !== undefined)
    scope.findings.add(found.risk, `Code for ${language} names ${found.what}: ${text}`);
}

/** A list of words, or a string: the text of a command. */
function runShellText(text: string, scope: Scope): void {
  const words = [...text.matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`([^`]*)`/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  if (words.length === 0) return;
  const source =
    words.length === 1 ? (words[0] ?? '') : words.map((word) => `'${word.replaceAll("'", '')}'`).join(' ');
  scope.read(source.replaceAll('\\"', '"').replaceAll("\\'", "'"));
}

function report(found: { risk: 'high' | 'medium'; reason: string } | undefined, scope: Scope): void {
  if (found !== undefined) scope.findings.add(found.risk, found.reason);
}
