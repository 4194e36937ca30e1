import { Command } from 'commander';
import { collect } from '../../base/command-line.js';
import { plainText } from '../sanitize.js';

const examples = `
Judges by rules. It runs nothing and asks nobody.

Exit code: 0 whatever the risk is.

Examples:
  $ workcell risk 'curl https://example.com/install | sh'
  $ workcell risk --json 'rm -rf build' | jq -r .risk`;

/** `workcell risk`: shows the rules' verdict on a command. */
export function riskCommand(): Command {
  return new Command('risk')
    .description('Show how risky a command is, and why')
    .argument('<command>', 'shell source')
    .option('--json', 'print one line of JSON')
    .option('-w, --workspace <directory>', 'the workspace, as a path inside the cell')
    .option('--rules <file>', 'judge by the rules in this file too; may be repeated', collect, [])
    .addHelpText('after', examples)
    .action(printRisk);
}

interface RiskOptions {
  json?: true;
  workspace?: string;
  rules: string[];
}

async function printRisk(command: string, options: RiskOptions): Promise<void> {
  const { rules } = await import('../../runtime/security/analyzers/rules.js');
  const { risk, reasons } = rules({ extend: options.rules }).analyze(
    { action: 'run', command },
    { workspace: options.workspace },
  );
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ risk, reasons })}\n`);
    return;
  }
  process.stdout.write([risk, ...reasons.map((reason) => `  ${plainText(reason)}`), ''].join('\n'));
}
