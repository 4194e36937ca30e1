import { Command } from 'commander';
import type { ActionTable } from '../../protocol/index.js';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';
import { formatTable } from '../text-table.js';

const notes = `
Takes any action, those of plugins included, and prints its observation as one
line of JSON. Without a name it lists all actions.

Examples:
  $ workcell action
  $ workcell action list '{"path": "."}' --workspace .
  $ workcell action run_ipython '{"code": "6 * 7"}'`;

/** `workcell action`: any action as JSON, in a fresh cell. */
export function actionCommand(): Command {
  return withCellOptions(new Command('action').description('Run any action in a fresh cell'))
    .argument('[name]', 'the action')
    .argument('[fields]', 'its fields as JSON', '{}')
    .addHelpText('after', notes)
    .action(action);
}

async function action(name: string | undefined, fields: string, options: CellOptions): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    if (name === undefined) {
      process.stdout.write(describe(runtime.actions));
      return;
    }
    const given = { ...(await parseFields(fields)), action: name } as never;
    const observation = await runtime.execute(given, { signal: interrupts.signal });
    process.stdout.write(`${JSON.stringify(observation)}\n`);
  } finally {
    await end();
  }
}

function describe(actions: ActionTable): string {
  const rows = Object.values(actions).map(({ name, summary }) => [name, summary]);
  return `${formatTable(['ACTION', 'WHAT IT DOES'], rows)}\n`;
}

async function parseFields(text: string): Promise<object> {
  const { WorkcellError } = await import('../../protocol/index.js');
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return fields;
  } catch {
    // Reported below, like any other value that is no object.
  }
  throw new WorkcellError('invalid-action', `The fields of an action are a JSON object, not ${text}.`, {
    details: { fields: text },
  });
}
