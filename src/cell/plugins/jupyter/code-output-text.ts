/** What a person would see of a code cell, as plain text. */
import { stripVTControlCharacters } from 'node:util';
import type { CodeOutput } from './jupyter-actions.js';

export function textOf(outputs: readonly CodeOutput[]): string {
  let text = '';
  for (const output of outputs) {
    const piece = stripVTControlCharacters(pieceOf(output));
    if (piece === '') continue;
    // Only streams may break off in the middle of a line.
    const onNewLine = output.type === 'stream' || text === '' || text.endsWith('\n');
    text += onNewLine ? piece : `\n${piece}`;
    if (output.type !== 'stream' && !text.endsWith('\n')) text += '\n';
  }
  return text;
}

function pieceOf(output: CodeOutput): string {
  switch (output.type) {
    case 'stream':
      return output.text;
    case 'result':
    case 'display':
      return describe(output.data, output.omitted);
    case 'error':
      return output.traceback.length > 0 ? output.traceback.join('\n') : `${output.name}: ${output.message}`;
    case 'gap':
      return `[... ${output.omittedBytes} bytes left out ...]`;
  }
}

function describe(
  data: Readonly<Record<string, unknown>>,
  omitted: Readonly<Record<string, number>> = {},
): string {
  const text = data['text/plain'] ?? data['text/markdown'] ?? data['text/latex'];
  if (typeof text === 'string') return text;
  const types = [...new Set([...Object.keys(data), ...Object.keys(omitted)])];
  return types.length === 0 ? '' : `[${types.join(', ')}]`;
}
