/** Asks the person at the terminal whether an action may run. */
import { createInterface } from 'node:readline/promises';
import type { ConfirmationRequest, PolicyOptions } from '../runtime/security/index.js';
import { plainText } from './sanitize.js';

/** The policy of `--guard` and `--confirm`: with somebody to ask, whatever is not harmless is a question. */
export function terminalPolicy(confirm: boolean): PolicyOptions {
  if (!confirm) return {};
  const onRisk = { low: 'allow', medium: 'confirm', high: 'confirm', unknown: 'confirm' } as const;
  return { onRisk, ...askOnTerminal() };
}

/** Without a terminal there is nobody to ask, and the policy refuses. */
export function askOnTerminal(): Pick<PolicyOptions, 'confirm'> {
  return process.stdin.isTTY && process.stderr.isTTY ? { confirm: ask } : {};
}

async function ask({ action, risk, reasons, signal }: ConfirmationRequest) {
  const what = typeof action.command === 'string' ? action.command : JSON.stringify(action);
  const lines = [plainText(what), `risk: ${risk}`, ...reasons.map((reason) => `  ${plainText(reason)}`), ''];
  process.stderr.write(lines.join('\n'));
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const refused = new AbortController();
  terminal.once('SIGINT', () => refused.abort());
  try {
    const stop = signal === undefined ? refused.signal : AbortSignal.any([signal, refused.signal]);
    const answer = await terminal.question('Run it? [y/N] ', { signal: stop });
    const who = process.env.USER ?? process.env.LOGNAME;
    return { answer: /^y(?:es)?$/i.test(answer.trim()) ? ('approve' as const) : ('deny' as const), who };
  } catch {
    process.stderr.write('\n');
    return 'deny' as const;
  } finally {
    terminal.close();
  }
}
