/** Shells that keep their state: variables, working directory, background jobs. */
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { checkOptions } from './toolkit-options.js';
import { PersistentShell } from './toolkit-shell.js';

/** Where the shells of the toolkit start. */
export interface TerminalToolkitOptions {
  /** Where shells start. Default: the working directory. */
  readonly cwd?: string;
}

const session = z.string().min(1).max(128).default('default').describe('Each session is a shell of its own.');

/** Makes tools that run commands in shells with state. */
export function terminalToolkit(options: TerminalToolkitOptions = {}): FunctionTool[] {
  checkOptions('terminalToolkit', options, ['cwd']);
  const { cwd = process.cwd() } = options;
  const shells = new Map<string, PersistentShell>();
  return [
    tool({
      name: 'shell_exec',
      description:
        'Runs a command in a bash that keeps its state between calls. Gives the output and the exit code.',
      parameters: z.object({ command: z.string(), session }),
      async execute({ command, session: name }, { signal }) {
        const shell = shells.get(name) ?? new PersistentShell(cwd);
        shells.set(name, shell);
        return shell.run(command, signal);
      },
    }) as FunctionTool,
    tool({
      name: 'shell_list',
      description: 'Lists the shell sessions.',
      readOnly: true,
      execute: () => [...shells.keys()],
    }) as FunctionTool,
    tool({
      name: 'shell_kill',
      description: 'Ends a shell session and all that runs in it.',
      parameters: z.object({ session }),
      execute({ session: name }) {
        const shell = shells.get(name);
        shells.delete(name);
        shell?.close();
        return { ended: shell !== undefined };
      },
    }) as FunctionTool,
  ];
}
