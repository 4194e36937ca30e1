/** The reference of every export, read from the sources: names, comments and declarations. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url));

interface Declared {
  readonly name: string;
  readonly file: string;
  readonly kind: string;
  readonly comment: string;
  readonly text: string;
}

/** The page, without the note that it is generated. */
export function apiPage(): string[] {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, { default: string }> };
  const told = new Map<string, string>();
  const sections = Object.entries(exports).flatMap(([entry, { default: built }]) => {
    const title = `workcell${entry.slice(1)}`;
    const all = exportsOf(built.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'));
    const key = ({ name, file }: Declared) => `${file} ${name}`;
    const known = all.filter((one) => told.has(key(one)));
    const fresh = all.filter((one) => !told.has(key(one)));
    for (const one of fresh) told.set(key(one), title);
    const elsewhere = known.map((one) => `\`${one.name}\` (${told.get(key(one))})`);
    return [
      `## ${title}`,
      '',
      ...[...fresh].sort(byKind).flatMap(describe),
      ...(elsewhere.length > 0 ? [`Also here: ${elsewhere.join(', ')}.`, ''] : []),
    ];
  });
  return [
    '# API',
    '',
    'Every export of the package, by the name that you import it from. The guides show how to use them together. A type that several entries',
    'export stands where it comes first.',
    '',
    ...sections,
  ];
}

/** What one calls comes before what describes it. */
function byKind(left: Declared, right: Declared): number {
  const isType = ({ kind }: Declared) => (kind === 'interface' || kind === 'type' ? 1 : 0);
  return isType(left) - isType(right) || left.name.localeCompare(right.name, 'en');
}

function describe({ name, comment, text }: Declared): string[] {
  return [`### ${name}`, '', ...(comment === '' ? [] : [comment, '']), '```typescript', text, '```', ''];
}

function exportsOf(file: string): Declared[] {
  const source = read(file);
  const listed = [...source.matchAll(/^export (type )?\{([^}]*)\} from '([^']+)';/gm)];
  const passedOn = listed.flatMap(([, , names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .map((name) => declaration(name, resolved(file, from))),
  );
  const own = [
    ...source.matchAll(/^export (?:async |abstract )*(?:function|class|interface|type|const)\*? (\w+)/gm),
  ];
  return [
    ...passedOn,
    ...[...new Set(own.map(([, name = '']) => name))].map((name) => declaration(name, file)),
  ];
}

function declaration(name: string, file: string): Declared {
  const source = read(file);
  const pattern = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?^export ((?:async |abstract )*(function|class|interface|type|const)\\*? ${name}\\b)`,
    'gm',
  );
  const found = [...source.matchAll(pattern)];
  const [first] = found;
  if (first === undefined) return declaration(name, whereFrom(name, file));
  const texts = found.map((match) => declared(source, match.index + (match[1]?.length ?? 0), match[3] ?? ''));
  // The last of several has the body of all.
  const text = (texts.length > 1 ? texts.slice(0, -1) : texts).join('\n');
  return { name, file, kind: first[3] ?? '', comment: commentText(first[1]), text };
}

function whereFrom(name: string, file: string): string {
  const source = read(file);
  const listed = source.matchAll(/^(?:export|import) (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm);
  for (const [, names = '', from = ''] of listed)
    if (new RegExp(`\\b${name}\\b`).test(names)) return resolved(file, from);
  throw new Error(`${file} exports ${name}, and nothing declares it.`);
}

function declared(source: string, start: number, kind: string): string {
  const rest = source.slice(start).replace(/^export (?:async )?/, '');
  if (kind === 'class') return classText(rest);
  if (kind === 'interface') return rest.slice(0, rest.indexOf('\n}') + 2).replace(/^(.*\{)\}[\s\S]*/, '$1}');
  if (kind === 'function') return `${signature(rest)};`;
  if (kind === 'const') return (/^const \w+(?:: [^=]+?)?(?= =)/.exec(rest)?.[0] ?? '').concat(';');
  const end = /;\n(?=\n|\/|export|const|function|type|interface|$)/.exec(rest);
  return rest.slice(0, (end?.index ?? 0) + 1);
}

/** What stands before the body of a function. */
function signature(text: string): string {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const letter = text[index] as string;
    if (letter === ';' && depth === 0) return text.slice(0, index);
    const isBody = depth === 0 && letter === '{' && !/(?:[:|&<]|=>)\s*$/.test(text.slice(0, index));
    if (isBody) return text.slice(0, index).trimEnd();
    if ('([{'.includes(letter)) depth++;
    if (')]}'.includes(letter)) depth--;
  }
  return text;
}

/** The members that a program may use, with their comments. */
function classText(text: string): string {
  const head = text.slice(0, text.indexOf('{') + 1);
  const body = text.slice(head.length, text.indexOf('\n}'));
  const members = body.matchAll(
    /((?: {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)^ {2}(?!private|protected|constructor|return)((?:static |async |get |readonly )*\w+\??[(<:].*)/gm,
  );
  const told = new Map<string, string[]>();
  for (const match of members) {
    const [, comment = '', start = ''] = match;
    const name = start.split(/[(<:]/)[0] ?? '';
    const from = body.slice(match.index + comment.length).trimStart();
    const whole = signature(from).replace(/^async /, '');
    const isField = /^(?:static |readonly )*\w+\??:/.test(whole);
    const text = isField ? whole.split(' = ')[0] : whole;
    told.set(name, [...(told.get(name) ?? []), `${comment}  ${text};`]);
  }
  const lines = [...told.values()].flatMap((texts) => (texts.length > 1 ? texts.slice(0, -1) : texts));
  return [head, ...lines, '}'].join('\n');
}

function commentText(comment = ''): string {
  return comment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join(' ')
    .trim();
}

function resolved(file: string, from: string): string {
  return join(dirname(file), from).replace(/\.js$/, '.ts');
}

function read(file: string): string {
  return readFileSync(join(checkout, file), 'utf8');
}
