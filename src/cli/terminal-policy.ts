/** Asks the person at the terminal whether an action may run. */
import { createInterface } from 'node:readline/promises';
import type { NetworkAnswer, NetworkAsker, NetworkQuestion } from '../protocol/index.js';
import type { AnswerScope, ConfirmationRequest, PolicyOptions } from '../runtime/security/index.js';
import { plainText } from './sanitize.js';
import { holdTerminal } from './terminal-hold.js';

/** The policy of `--guard` and `--confirm`: on a terminal, whatever is not harmless is a question. */
export function terminalPolicy(confirm: boolean): PolicyOptions {
  if (!confirm) return {};
  const onRisk = { low: 'allow', medium: 'confirm', high: 'confirm', unknown: 'confirm' } as const;
  return { onRisk, ...askOnTerminal() };
}

/** Without a terminal there is nobody to ask, and the policy refuses. */
export function askOnTerminal(): Pick<PolicyOptions, 'confirm'> {
  return process.stdin.isTTY && process.stderr.isTTY ? { confirm: ask } : {};
}

async function ask({ action, risk, reasons, forCell, signal }: ConfirmationRequest) {
  const what = typeof action.command === 'string' ? action.command : JSON.stringify(action);
  const lines = [plainText(what), `risk: ${risk}`, ...reasons.map((reason) => `  ${plainText(reason)}`), ''];
  const choices = forCell === true ? '[o]nce, for this [c]ell, [N]o' : '[o]nce, [N]o';
  const answer = scopeOf(await question(lines, `Run it? ${choices} `, signal));
  const who = process.env.USER ?? process.env.LOGNAME;
  if (answer === undefined || answer === 'always' || (answer === 'cell' && forCell !== true))
    return { answer: 'deny' as const, who };
  return { answer: 'approve' as const, scope: answer, who };
}

/** Asks about hosts, one after the other; undefined without a terminal. */
export function askAboutHosts(): NetworkAsker | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return askAboutHost;
}

async function askAboutHost(
  { host, port, commands = [] }: NetworkQuestion,
  signal: AbortSignal,
): Promise<NetworkAnswer> {
  const lines = [
    `The cell wants to reach ${plainText(host)}:${port}.`,
    ...commands.map((command) => `  running: ${plainText(command)}`),
    '',
  ];
  const answer = await question(lines, 'Allow it? [o]nce, for this [c]ell, [a]lways, [N]o ', signal);
  return scopeOf(answer) ?? 'deny';
}

/** Undefined is a no. */
function scopeOf(answer = ''): AnswerScope | undefined {
  if (/^(?:o(?:nce)?|y(?:es)?)$/i.test(answer)) return 'once';
  if (/^c(?:ell)?$/i.test(answer)) return 'cell';
  return /^a(?:lways)?$/i.test(answer) ? 'always' : undefined;
}

/** Undefined when the person interrupts, or nobody waits for the answer any more. */
function question(
  lines: readonly string[],
  text: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return holdTerminal(async () => {
    if (signal?.aborted) return undefined;
    process.stderr.write(lines.join('\n'));
    return readAnswer(text, signal);
  });
}

async function readAnswer(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const refused = new AbortController();
  terminal.once('SIGINT', () => refused.abort());
  try {
    const stop = signal === undefined ? refused.signal : AbortSignal.any([signal, refused.signal]);
    return (await terminal.question(text, { signal: stop })).trim();
  } catch {
    process.stderr.write('\n');
    return undefined;
  } finally {
    terminal.close();
  }
}
