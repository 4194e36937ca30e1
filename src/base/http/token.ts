/** Where a server's token comes from: a file or an inherited descriptor, which commands never see. */
import { closeSync, readFileSync } from 'node:fs';
import { WorkcellError } from '../../protocol/index.js';

export function readToken(source: {
  file?: string | undefined;
  descriptor?: number | undefined;
}): string | undefined {
  const { file, descriptor } = source;
  if (file === undefined && descriptor === undefined) return undefined;
  const token = read(file, descriptor).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new WorkcellError(
    'invalid-config',
    `${file ?? `Descriptor ${descriptor}`} holds no token: it must be one word of printable characters.`,
  );
}

function read(file: string | undefined, descriptor: number | undefined): string {
  try {
    const text = readFileSync(file ?? (descriptor as number), 'utf8');
    // Commands would inherit an open descriptor.
    if (file === undefined) closeSync(descriptor as number);
    return text;
  } catch (cause) {
    const place = file === undefined ? `descriptor ${descriptor}` : file;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const advice = missing ? ` Make one with: (umask 077; openssl rand -hex 32 > ${place})` : '';
    throw new WorkcellError(
      'invalid-config',
      `Workcell cannot read the token from ${place}: ${reason}.${advice}`,
      {
        cause,
      },
    );
  }
}
