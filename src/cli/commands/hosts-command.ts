import { Command } from 'commander';
import { plainText } from '../sanitize.js';
import { formatTable } from '../text-table.js';

const notes = `
They come from the answer "always" to a question about a host. Cells whose
network rules have "ask" reach them without a question; others do not.

Examples:
  $ workcell hosts
  $ workcell hosts --forget api.example.com:443`;

interface HostsOptions {
  readonly forget?: string;
  readonly json?: true;
}

/** `workcell hosts`: the hosts that you allowed for always. */
export function hostsCommand(): Command {
  return new Command('hosts')
    .description('Show or take back the hosts that you allowed for always')
    .option('--forget <host>', 'take one back: a host, or a host and a port')
    .option('--json', 'print one line of JSON for each')
    .addHelpText('after', notes)
    .action(hosts);
}

async function hosts({ forget: forgotten, json }: HostsOptions): Promise<void> {
  const { forget, listAllowed } = await import('../../runtime/security/policy/allowed-hosts.js');
  if (forgotten !== undefined) {
    const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(forgotten) ?? [];
    const was = forget(host, port === undefined ? undefined : Number(port));
    process.stdout.write(`${was ? 'No longer allowed' : 'Was not allowed'}: ${plainText(forgotten)}\n`);
    return;
  }
  const allowed = listAllowed();
  if (json) for (const entry of allowed) process.stdout.write(`${JSON.stringify(entry)}\n`);
  else if (allowed.length === 0) process.stdout.write('No host is allowed for always.\n');
  else {
    const rows = allowed.map(({ host, port, allowedAt, who = '' }) => [
      plainText(`${host}:${port}`),
      allowedAt.slice(0, 10),
      plainText(who),
    ]);
    process.stdout.write(`${formatTable(['HOST', 'SINCE', 'BY'], rows)}\n`);
  }
}
