/** Whole files as text, in the encoding that they have. */
import {
  decodeText,
  detectEncoding,
  encodeText,
  type TextEncoding,
} from '../../../cell/executor/files/text-encoding.js';
import type { Executor } from '../../../protocol/index.js';
import { perform } from '../perform-action.js';

export interface TextFile {
  readonly text: string;
  readonly encoding: TextEncoding;
}

/** Undefined when the content is not text. */
export async function loadText(
  executor: Executor,
  path: string,
  maxBytes: number,
): Promise<TextFile | undefined> {
  const { content } = await perform(executor, { action: 'read', path, encoding: 'base64', maxBytes });
  const data = Buffer.from(content, 'base64');
  const encoding = detectEncoding(data);
  return encoding && { text: decodeText(data, encoding), encoding };
}

export async function storeText(
  executor: Executor,
  path: string,
  { text, encoding }: TextFile,
  mode?: number,
): Promise<void> {
  const content = encodeText(text, encoding).toString('base64');
  await perform(executor, {
    action: 'write',
    path,
    content,
    encoding: 'base64',
    ...(mode !== undefined && { mode }),
  });
}

/** The lines of a text with their line ends; a last one without is a line, too. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
