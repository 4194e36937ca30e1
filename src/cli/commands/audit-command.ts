import { join } from 'node:path';
import { Command, Option } from 'commander';
import { homeDirectory } from '../../base/user-directories.js';
import { plainText } from '../sanitize.js';

const examples = `
The record is the file that a runtime was given with "audit"; its rotated parts
and its head are found beside it. Default: ~/.workcell/audit.jsonl. A record in
a store is named as the store is, such as sqlite:./workcell.db.

Exit code of verify: 0 when nothing was touched, 65 when something was.

Examples:
  $ workcell audit verify audit.jsonl
  $ workcell audit export --format ocsf audit.jsonl > events.jsonl`;

/** `workcell audit`: checks and exports the hash-chained record. */
export function auditCommand(): Command {
  const audit = new Command('audit')
    .description('Check or export the audit record')
    .addHelpText('after', examples);
  audit
    .command('verify')
    .description('Find records that were changed, removed, reordered or cut off')
    .argument('[file]', 'the record', defaultFile())
    .option('--json', 'print one line of JSON')
    .action(verify);
  audit
    .command('export')
    .description('Print the record for other systems, one line of JSON each')
    .argument('[file]', 'the record', defaultFile())
    .addOption(
      new Option('--format <format>', 'form of the lines').choices(['jsonl', 'ocsf']).default('jsonl'),
    )
    .action(print);
  for (const command of audit.commands) command.exitOverride().configureOutput({ outputError: () => {} });
  return audit;
}

async function verify(file: string, options: { json?: true }): Promise<void> {
  const { verifyAudit, verifyAuditStore } = await import('../../runtime/security/audit/verify.js');
  const result = isStore(file) ? await verifyAuditStore(file) : verifyAudit(file);
  if (!result.ok) process.exitCode = 65;
  if (options.json) {
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  for (const { kind, file: part, line, message } of result.problems)
    process.stdout.write(`${kind}  ${part}${line > 0 ? `:${line}` : ''}  ${plainText(message)}\n`);
  process.stdout.write(
    result.ok
      ? `${result.records} records, nothing was touched.\n`
      : `${result.problems.length} problems in ${result.records} records.\n`,
  );
}

async function print(file: string, { format }: { format: 'jsonl' | 'ocsf' }): Promise<void> {
  const { exportAudit, exportAuditStore } = await import('../../runtime/security/audit/export.js');
  const lines = isStore(file) ? exportAuditStore(file, format) : exportAudit(file, format);
  for await (const line of lines) process.stdout.write(`${line}\n`);
}

function isStore(name: string): boolean {
  return /^(?:sqlite|postgres(?:ql)?):/.test(name);
}

function defaultFile(): string {
  return join(homeDirectory(), '.workcell', 'audit.jsonl');
}
