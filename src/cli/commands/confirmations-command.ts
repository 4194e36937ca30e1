/** `workcell events --pending`, `--approve`, `--deny`: the questions that wait in a store, and their answers. */
import { userInfo } from 'node:os';
import { openConfirmations, type PendingRequest } from '../../runtime/security/index.js';
import { plainText } from '../sanitize.js';
import { formatTable } from '../text-table.js';

interface Options {
  json?: true;
  approve?: string;
  deny?: string;
  who?: string;
  scope?: 'once' | 'cell' | 'always';
}

export async function confirmations(store: string | undefined, options: Options): Promise<void> {
  const { approve, deny, who = userInfo().username, scope } = options;
  await using desk = await openConfirmations(store);
  if (approve !== undefined) await desk.answer(approve, 'approve', who, scope);
  if (deny !== undefined) await desk.answer(deny, 'deny', who);
  if (approve !== undefined || deny !== undefined) return;
  const waiting = await desk.list();
  if (options.json) for (const request of waiting) process.stdout.write(`${JSON.stringify(request)}\n`);
  else if (waiting.length === 0) process.stdout.write('Nothing waits for a confirmation.\n');
  else process.stdout.write(`${formatTable(['ID', 'RISK', 'UNTIL', 'ACTION'], waiting.map(row))}\n`);
}

function inWords({ action, command, host, port, commands }: PendingRequest['action']): string[] {
  if (action === 'reach')
    return [`reach ${host}:${port}`, ...(Array.isArray(commands) ? commands.map(String) : [])];
  return [action, typeof command === 'string' ? command : ''];
}

function row({ id, risk, expiresAt, action, reasons }: PendingRequest): string[] {
  const until = new Date(expiresAt).toISOString().replace('T', ' ').slice(0, 19);
  const what = [...inWords(action), ...reasons].filter((text) => text !== '');
  return [id, risk, until, plainText(what.join(' ')).replace(/\s+/g, ' ').slice(0, 160)];
}
