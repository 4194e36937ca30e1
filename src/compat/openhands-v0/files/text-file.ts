/** Whole files as text, in the encoding that they have. */
import { inTurns } from '../../../base/pace.js';
import {
  detectEncoding,
  type TextEncoding,
  textDecoded,
  textEncoded,
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
  return encoding && { text: await inTurns(textDecoded(data, encoding)), encoding };
}

export async function storeText(
  executor: Executor,
  path: string,
  { text, encoding }: TextFile,
  mode?: number,
): Promise<void> {
  const content = (await inTurns(textEncoded(text, encoding))).toString('base64');
  await perform(executor, {
    action: 'write',
    path,
    content,
    encoding: 'base64',
    ...(mode !== undefined && { mode }),
  });
}
