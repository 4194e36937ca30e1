/** Results and errors of code as the lines that clients read. */
import type { Display, EndedBy, Observation } from '../../../protocol/index.js';

type CodeOutput = Observation<'run_code'>['outputs'][number];

const fields: Record<string, string> = {
  'text/plain': 'text',
  'text/html': 'html',
  'text/markdown': 'markdown',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'application/pdf': 'pdf',
  'text/latex': 'latex',
  'application/json': 'json',
  'application/javascript': 'javascript',
  // What the extractors of E2B show, where a kernel has them.
  'e2b/data': 'data',
  'e2b/chart': 'chart',
};

export function resultLine({ kind, data }: Display): object {
  const known = Object.entries(data).filter(([type]) => Object.hasOwn(fields, type));
  const others = Object.entries(data).filter(([type]) => !Object.hasOwn(fields, type));
  return {
    type: 'result',
    is_main_result: kind === 'result',
    ...Object.fromEntries(
      known.map(([type, value]) => [fields[type], type === 'text/plain' ? bare(value) : value]),
    ),
    ...(others.length > 0 && { extra: Object.fromEntries(others) }),
  };
}

/** The value of a text, without the quotes that a kernel shows it in. */
function bare(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [, inner] = /^(?:'([\s\S]*)'|"([\s\S]*)")$/.exec(value)?.filter((part) => part !== undefined) ?? [];
  return inner ?? value;
}

/** Undefined for code that ended well. */
export function errorLine(outputs: readonly CodeOutput[], endedBy: EndedBy): object | undefined {
  const error = outputs.findLast((output) => output.type === 'error');
  if (error !== undefined)
    return { type: 'error', name: error.name, value: error.message, traceback: error.traceback.join('\n') };
  if (endedBy === 'exit') return undefined;
  const value = `The kernel ended before the code did (${endedBy}).`;
  return { type: 'error', name: 'UnexpectedEndOfExecution', value, traceback: '' };
}
