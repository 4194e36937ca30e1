import { Command } from 'commander';
import type { ServiceStatus } from '../../protocol/service-wire.js';
import { plainText } from '../sanitize.js';
import { age, formatTable, size } from '../text-table.js';

interface StatusOptions {
  url: string;
  apiKeyFile: string;
  json?: true;
}

/** `workcell serve status`: how a running service does. */
export function serveStatusCommand(): Command {
  return new Command('status')
    .description('Show how a running service does')
    .option('--url <address>', 'address of the service', 'http://127.0.0.1:8720')
    .requiredOption('--api-key-file <file>', "file with the operator's key")
    .option('--json', 'print one line of JSON')
    .action(show);
}

async function show({ url, apiKeyFile, json }: StatusOptions): Promise<void> {
  const { ServiceClient } = await import('../../client/index.js');
  const { readToken } = await import('../../base/http/token.js');
  const client = new ServiceClient({ url, apiKey: readToken({ file: apiKeyFile }) ?? '' });
  const status = await client.status();
  process.stdout.write(`${json ? JSON.stringify(status) : describe(status)}\n`);
}

function describe(status: ServiceStatus): string {
  const { version, startedAt, cells, tenants, waiting, spare, memoryBytes, templates } = status;
  const states = Object.entries(cells).map(([state, count]) => `${count} ${state}`);
  const rows = [
    ['version', version],
    ['up for', age(Date.now() - Date.parse(startedAt))],
    ['cells', states.join(', ')],
    ['waiting', String(waiting)],
    ['spare', String(spare)],
    ['tenants', String(tenants)],
    ['memory', size(memoryBytes)],
    ['templates', templates.join(', ')],
  ];
  return formatTable(
    ['SERVICE', ''],
    rows.map((row) => row.map(plainText)),
  );
}
