/** A Python code cell as one text, in the form that agents of OpenHands know. */
import { stripVTControlCharacters } from 'node:util';
import type { Action, ExecuteContext } from '../../../protocol/index.js';
import { type CodeOutput, jupyterActions } from './jupyter-actions.js';

interface Ran {
  readonly outputs: readonly CodeOutput[];
  readonly status: 'ok' | 'error';
  readonly endedBy: string;
  readonly notice: string | undefined;
}

type Run = (action: Action<'run_code'>, context: ExecuteContext) => Promise<Ran>;

export async function toIpython(
  { code, include_extra: includeExtra, timeoutMs }: Action<'run_ipython'>,
  context: ExecuteContext,
  run: Run,
  about: () => Promise<{ cwd: string; interpreter: string }>,
) {
  const ran = await run(inPython({ code, timeoutMs }), context);
  const { outputs, status, endedBy, notice } = ran;
  const shown = stripVTControlCharacters(outputs.map(textOf).join(''));
  const timedOut = endedBy === 'timeout' ? `[Execution timed out (${(timeoutMs ?? 0) / 1000} seconds).]` : '';
  const empty = timedOut === '' ? '[Code executed successfully with no output]' : '';
  let content = [shown, timedOut, notice ?? ''].filter(Boolean).join('\n') || empty;
  if (includeExtra && endedBy === 'exit') {
    const { cwd, interpreter } = await about();
    content = `${content.trimEnd()}\n[Jupyter current working directory: ${cwd}]\n[Jupyter Python interpreter: ${interpreter}]`;
  }
  const images = outputs.flatMap(imagesOf);
  return {
    content,
    code,
    image_urls: images.length === 0 ? null : images,
    success: status === 'ok' && endedBy === 'exit',
  };
}

function inPython(options: { code: string; timeoutMs?: number | undefined }): Action<'run_code'> {
  return jupyterActions.run_code.input.parse({ action: 'run_code', ...options }) as Action<'run_code'>;
}

function textOf(output: CodeOutput): string {
  switch (output.type) {
    case 'stream':
      return output.text;
    case 'result':
    case 'display':
      return String(output.data['text/plain'] ?? '');
    case 'error':
      return output.traceback.join('\n');
    case 'gap':
      return `\n[... ${output.omittedBytes} bytes left out ...]\n`;
  }
}

function imagesOf(output: CodeOutput): string[] {
  if (output.type !== 'result' && output.type !== 'display') return [];
  const image = output.data['image/png'];
  return typeof image === 'string' ? [`data:image/png;base64,${image.replace(/\s+/g, '')}`] : [];
}
