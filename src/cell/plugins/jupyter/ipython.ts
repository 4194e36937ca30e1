/** A Python code cell as one text, in the form that agents of OpenHands know. */
import { stripVTControlCharacters } from 'node:util';
import type { Action, ExecuteContext } from '../../../protocol/index.js';
import { type CodeOutput, type CodePart, jupyterActions } from './jupyter-actions.js';
import { type Notice, noticeText } from './notices.js';

interface Ran {
  readonly outputs: readonly CodeOutput[];
  readonly status: 'ok' | 'error';
  readonly endedBy: string;
  readonly notices: readonly Notice[];
}

type Run = (action: Action<'run_code'>, context: ExecuteContext) => Promise<Ran>;

export async function toIpython(
  { code, include_extra: includeExtra, parts: asParts, timeoutMs }: Action<'run_ipython'>,
  context: ExecuteContext,
  run: Run,
  about: () => Promise<{ cwd: string; interpreter: string }>,
) {
  const ran = await run(inPython({ code, timeoutMs }), context);
  const { outputs, status, endedBy } = ran;
  const timedOut = endedBy === 'timeout' ? (timeoutMs ?? 0) / 1000 : undefined;
  const parts = partsOf(ran, timedOut);
  if (includeExtra && endedBy === 'exit') addSurroundings(parts, await about());
  const images = outputs.flatMap(imagesOf);
  return {
    content: parts.map(wordsOf).join(''),
    code,
    image_urls: images.length === 0 ? null : images,
    success: status === 'ok' && endedBy === 'exit',
    ...(asParts && { parts }),
  };
}

/** Each of output, timeout and notices on lines of its own. */
function partsOf({ outputs, notices }: Ran, timedOut: number | undefined): CodePart[] {
  const blocks: CodePart[][] = [
    shownBy(outputs),
    timedOut === undefined ? [] : [{ type: 'timeout', seconds: timedOut }],
    notices.flatMap((notice, index) => (index === 0 ? [notice] : [text(' '), notice])),
  ];
  const parts = blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : [text('\n'), ...block]));
  return parts.length === 0 ? [{ type: 'no-output' }] : parts;
}

function shownBy(outputs: readonly CodeOutput[]): CodePart[] {
  const parts: CodePart[] = [];
  let shown = '';
  const add = () => {
    const plain = stripVTControlCharacters(shown);
    if (plain !== '') parts.push(text(plain));
    shown = '';
  };
  for (const output of outputs) {
    if (output.type !== 'gap') shown += textOf(output);
    else {
      add();
      parts.push(output);
    }
  }
  add();
  return parts;
}

function addSurroundings(
  parts: CodePart[],
  { cwd, interpreter }: { cwd: string; interpreter: string },
): void {
  const last = parts.at(-1);
  if (last?.type === 'text') parts[parts.length - 1] = text(last.text.trimEnd());
  parts.push(text('\n'), { type: 'directory', path: cwd });
  parts.push(text('\n'), { type: 'interpreter', path: interpreter });
}

function text(content: string): CodePart {
  return { type: 'text', text: content };
}

function wordsOf(part: CodePart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'gap':
      return `\n[... ${part.omittedBytes} bytes left out ...]\n`;
    case 'no-output':
      return '[Code executed successfully with no output]';
    case 'timeout':
      return `[Execution timed out (${part.seconds} seconds).]`;
    case 'directory':
      return `[Jupyter current working directory: ${part.path}]`;
    case 'interpreter':
      return `[Jupyter Python interpreter: ${part.path}]`;
    default:
      return noticeText(part);
  }
}

function inPython(options: { code: string; timeoutMs?: number | undefined }): Action<'run_code'> {
  return jupyterActions.run_code.input.parse({ action: 'run_code', ...options }) as Action<'run_code'>;
}

function textOf(output: Exclude<CodeOutput, { type: 'gap' }>): string {
  switch (output.type) {
    case 'stream':
      return output.text;
    case 'result':
    case 'display':
      return String(output.data['text/plain'] ?? '');
    case 'error':
      return output.traceback.join('\n');
  }
}

function imagesOf(output: CodeOutput): string[] {
  if (output.type !== 'result' && output.type !== 'display') return [];
  const image = output.data['image/png'];
  return typeof image === 'string' ? [`data:image/png;base64,${image.replace(/\s+/g, '')}`] : [];
}
