/** Commands by the word that they begin with, each with nothing but what it needs itself. */
import type { Command } from 'commander';
import { programOf } from './program-of.js';

/** All but `completion`, which looks at the others. */
const commands: Readonly<Record<string, () => Promise<() => Command>>> = {
  run: async () => (await import('./commands/run-command.js')).runCommand,
  shell: async () => (await import('./commands/shell-command.js')).shellCommand,
  code: async () => (await import('./commands/code-command.js')).codeCommand,
  vscode: async () => (await import('./commands/vscode-command.js')).vscodeCommand,
  diff: async () => (await import('./commands/overlay-commands.js')).diffCommand,
  apply: async () => (await import('./commands/overlay-commands.js')).applyCommand,
  discard: async () => (await import('./commands/overlay-commands.js')).discardCommand,
  action: async () => (await import('./commands/action-command.js')).actionCommand,
  cells: async () => (await import('./commands/cells-command.js')).cellsCommand,
  cp: async () => (await import('./commands/cp-command.js')).cpCommand,
  ps: async () => (await import('./commands/ps-command.js')).psCommand,
  logs: async () => (await import('./commands/logs-command.js')).logsCommand,
  top: async () => (await import('./commands/top-command.js')).topCommand,
  forward: async () => (await import('./commands/forward-command.js')).forwardCommand,
  open: async () => (await import('./commands/open-command.js')).openCommand,
  plugins: async () => (await import('./commands/plugins-command.js')).pluginsCommand,
  tools: async () => (await import('./commands/tools-command.js')).toolsCommand,
  doctor: async () => (await import('./commands/doctor-command.js')).doctorCommand,
  config: async () => (await import('./commands/config-command.js')).configCommand,
  trust: async () => (await import('./commands/trust-command.js')).trustCommand,
  untrust: async () => (await import('./commands/trust-command.js')).untrustCommand,
  hosts: async () => (await import('./commands/hosts-command.js')).hostsCommand,
  risk: async () => (await import('./commands/risk-command.js')).riskCommand,
  events: async () => (await import('./commands/events-command.js')).eventsCommand,
  audit: async () => (await import('./commands/audit-command.js')).auditCommand,
  serve: async () => (await import('./commands/serve-command.js')).serveCommand,
  console: async () => (await import('./commands/console-command.js')).consoleCommand,
  mcp: async () => (await import('./commands/mcp-command.js')).mcpCommand,
  executor: async () => (await import('./commands/executor-subcommand.js')).executorCommand,
  images: async () => (await import('./commands/images-command.js')).imagesCommand,
  'openhands-agent-server': async () =>
    (await import('./commands/openhands-agent-server-command.js')).openHandsAgentServerCommand,
  'openhands-server': async () =>
    (await import('./commands/openhands-server-command.js')).openHandsServerCommand,
  'camel-server': async () => (await import('./commands/camel-server-command.js')).camelServerCommand,
  'camel-run': async () => (await import('./commands/camel-run-command.js')).camelRunCommand,
};

/**
 * What makes the program that these words are for: with their command alone, because loading all takes longer than many a
 * command, or with all where the command looks at the others or there is none of that name.
 */
export async function programFor([name = '']: readonly string[]): Promise<() => Command> {
  if (!Object.hasOwn(commands, name)) return (await import('./program.js')).createProgram;
  const command = await commands[name]?.();
  return () => programOf(command === undefined ? [] : [command()]);
}
