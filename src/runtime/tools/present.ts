/** Turns observations and results into text for a model: the output unchanged, pictures and facts beside it. */
import { withoutEnd } from '../../base/without-end.js';
import type { Observation } from '../../protocol/index.js';
import { type Picture, takePictures } from './pictures.js';

type Facts = Record<string, unknown>;

export interface ToolAnswer {
  readonly text: string;
  readonly pictures: readonly Picture[];
  /** Facts that the text omits, for programs: at most as many bytes as the text may have. */
  readonly facts?: Facts | undefined;
}

type Presenter = (facts: Facts, budgetBytes: number) => { readonly text: string; readonly rest: Facts };

export function present(observation: Observation, budgetBytes: number): ToolAnswer {
  const { observation: name, ...all } = observation as Observation & Facts;
  const { rest: seen, pictures, leftOut } = takePictures(all);
  const { text, rest } = (presenters[name] ?? asJson)(seen as Facts, budgetBytes);
  return toAnswer(text, pictures, leftOut, budgetBytes, rest);
}

/** The result of a registered tool. */
export function presentResult(result: unknown, budgetBytes: number): ToolAnswer {
  const { rest, pictures, leftOut } = takePictures(result);
  const text = typeof rest === 'string' ? rest : JSON.stringify(rest ?? null, undefined, 1);
  const isObject = typeof rest === 'object' && rest !== null && !Array.isArray(rest);
  return toAnswer(text, pictures, leftOut, budgetBytes, isObject ? (rest as Facts) : undefined);
}

function toAnswer(
  text: string,
  pictures: readonly Picture[],
  leftOut: number,
  budgetBytes: number,
  facts: Facts | undefined,
): ToolAnswer {
  const note = leftOut === 0 ? '' : `\n[${leftOut} pictures left out: too many or too large for one answer]`;
  return {
    text: cut(text, budgetBytes - note.length) + note,
    pictures,
    ...(facts !== undefined && { facts: withinBudget(facts, budgetBytes) }),
  };
}

const presenters: Readonly<Record<string, Presenter | undefined>> = {
  run: ({ output, ...rest }, budget) => withEnding(String(output), runEnding(rest), rest, budget),
  run_code: ({ text, ...rest }, budget) => withEnding(String(text), codeEnding(rest), rest, budget),
  read: ({ content, ...rest }) => ({
    text: rest.encoding === 'base64' ? `[${rest.mediaType}, ${rest.sizeBytes} bytes]` : String(content),
    rest,
  }),
  read_output: ({ data, ...rest }) => ({ text: String(data), rest }),
  edit: ({ diff, ...rest }) => ({ text: String(diff), rest }),
  browse: page,
  browse_interactive: page,
};

function asJson(facts: Facts): { text: string; rest: Facts } {
  return { text: JSON.stringify(facts, undefined, 1), rest: facts };
}

/** The line at the end stays whole, because it says how to get the rest. */
function withEnding(output: string, ending: string, rest: Facts, budgetBytes: number) {
  const room = Math.max(0, budgetBytes - Buffer.byteLength(ending) - 3);
  return { text: `${withNewline(cut(output, room))}[${ending}]`, rest };
}

function runEnding({ exitCode, endedBy, signal, cwd, truncated, outputId, notice }: Facts): string {
  const isAlive = endedBy === 'no-change';
  return join([
    isAlive ? 'still running' : exitCode === null ? `ended by ${signal ?? endedBy}` : `exit code ${exitCode}`,
    `in ${cwd}`,
    isAlive
      ? 'an empty command shows what it prints next, with handBackMs it waits that long; input: true types to it, "C-c" as input ends it'
      : '',
    truncated ? `output cut; read_output with outputId ${outputId} gives the whole` : '',
    notice,
  ]);
}

function codeEnding({ status, endedBy, truncated, outputId, notice }: Facts): string {
  return join([
    endedBy === 'exit' ? `status ${status}` : `ended by ${endedBy}`,
    truncated && outputId !== undefined ? `output cut; read_output with outputId ${outputId} gives more` : '',
    notice,
  ]);
}

/** The state of the page and its events come first and stay; the tree and the text share the remaining room. */
function page({ tree, text, ...rest }: Facts, budgetBytes: number) {
  const { elements: _elements, ...told } = rest;
  const facts = cut(JSON.stringify(told), budgetBytes / 4);
  const share = (budgetBytes - Buffer.byteLength(facts)) / 2 - 2;
  const parts = [facts, cut(String(tree), share), cut(String(text), share)];
  return { text: parts.join('\n\n'), rest: { ...rest, tree, text } };
}

function join(parts: readonly unknown[]): string {
  return parts.filter((part) => part !== '' && part !== undefined).join('; ');
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Head and tail, and between them how much is missing; never more than the budget. */
function cut(text: string, budgetBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= budgetBytes) return text;
  const mark = `\n[… ${bytes.length} bytes in all, the middle is left out; ask for a part …]\n`;
  const half = Math.max(0, Math.floor((budgetBytes - Buffer.byteLength(mark)) / 2));
  return `${wholeCharacters(bytes.subarray(0, half))}${mark}${wholeCharacters(bytes.subarray(bytes.length - half))}`;
}

/** Without the pieces of a character that stand at a cut: each would become three bytes. */
function wholeCharacters(bytes: Buffer): string {
  return withoutEnd(bytes.toString().replace(/^\ufffd+/, ''), '\ufffd');
}

/** Names facts that are too long for an answer instead of showing them, the longest first. */
function withinBudget(facts: Facts, budgetBytes: number): Facts {
  const sized = Object.entries(facts).map(([key, value]) => ({
    key,
    value,
    bytes: Buffer.byteLength(JSON.stringify([key, value])),
  }));
  let bytes = sized.reduce((sum, entry) => sum + entry.bytes, 0);
  if (bytes <= budgetBytes) return facts;
  const kept = sized.sort((one, other) => one.bytes - other.bytes);
  const leftOut: string[] = [];
  while (kept.length > 0 && bytes + namesBytes > budgetBytes) {
    const longest = kept.pop() as (typeof kept)[number];
    bytes -= longest.bytes;
    leftOut.push(longest.key);
  }
  const names = leftOut.slice(0, 8).map((name) => name.slice(0, 32));
  return { ...Object.fromEntries(kept.map(({ key, value }) => [key, value])), leftOut: names };
}

/** Room for the names of omitted facts. */
const namesBytes = 1024;
