/** Turns observations and results into what a model reads: the text as it is, pictures and facts beside it. */
import type { Observation } from '../../protocol/index.js';

type Facts = Record<string, unknown>;

interface Picture {
  readonly mediaType: string;
  /** In base64. */
  readonly data: string;
}

export interface ToolAnswer {
  readonly text: string;
  readonly pictures: readonly Picture[];
  /** What the text does not say, for programs. */
  readonly facts?: Facts | undefined;
}

export function present(observation: Observation, budgetBytes: number): ToolAnswer {
  const { observation: name, ...facts } = observation as Observation & Facts;
  const { text, rest } = (presenters[name] ?? asJson)(facts);
  return { text: cut(text, budgetBytes), pictures: pictures(facts), facts: rest };
}

/** What a registered tool gave back. */
export function presentResult(result: unknown, budgetBytes: number): ToolAnswer {
  const text = typeof result === 'string' ? result : JSON.stringify(result ?? null, undefined, 1);
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
  return { text: cut(text, budgetBytes), pictures: [], ...(isObject && { facts: result as Facts }) };
}

const presenters: Readonly<Record<string, ((facts: Facts) => { text: string; rest: Facts }) | undefined>> = {
  run: ({ output, ...rest }) => ({ text: `${withNewline(String(output))}[${ending(rest)}]`, rest }),
  read: ({ content, ...rest }) => ({
    text: rest.encoding === 'base64' ? `[${rest.mediaType}, ${rest.sizeBytes} bytes]` : String(content),
    rest,
  }),
  read_output: ({ data, ...rest }) => ({ text: String(data), rest }),
  edit: ({ diff, ...rest }) => ({ text: String(diff), rest }),
};

function asJson(facts: Facts): { text: string; rest: Facts } {
  return { text: JSON.stringify(facts, undefined, 1), rest: facts };
}

function ending({ exitCode, endedBy, signal, cwd, truncated, outputId, notice }: Facts): string {
  return [
    exitCode === null ? `ended by ${signal ?? endedBy}` : `exit code ${exitCode}`,
    `in ${cwd}`,
    truncated ? `output cut; read_output with outputId ${outputId} gives the whole` : '',
    notice ?? '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** Pictures that an action brings along: a file that is one, a screenshot, the display of a code cell. */
function pictures(facts: Facts): Picture[] {
  const { screenshot, content, encoding, mediaType: type } = facts;
  if (encoding === 'base64' && typeof content === 'string' && /^image\//.test(String(type)))
    return [{ mediaType: String(type), data: content }];
  const [, mediaType, data] = /^data:(image\/[a-z+]+);base64,(.+)$/.exec(String(screenshot ?? '')) ?? [];
  return mediaType === undefined || data === undefined ? [] : [{ mediaType, data }];
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function cut(text: string, budgetBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= budgetBytes + 1024) return text;
  const half = budgetBytes / 2;
  const [head, tail] = [bytes.subarray(0, half), bytes.subarray(-half)].map(String);
  return `${head}\n[… ${bytes.length - budgetBytes} bytes left out; ask for a part …]\n${tail}`;
}
