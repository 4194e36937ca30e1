import { join } from 'node:path';
import { Command, Option } from 'commander';
import { homeDirectory } from '../../base/user-directories.js';
import { plainText } from '../sanitize.js';

const examples = `
Name the file that you gave a runtime as "audit"; its rotated parts and its head
are beside it. Default: ~/.workcell/audit.jsonl. Name a record in a store by the
store, such as sqlite:./workcell.db.

Exit code of verify: 0 when the record is whole, 65 when it is not.

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
    .description('Find changed, removed, reordered or missing records')
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
