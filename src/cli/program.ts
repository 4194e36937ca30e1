import type { Command } from 'commander';
import { actionCommand } from './commands/action-command.js';
import { auditCommand } from './commands/audit-command.js';
import { camelRunCommand } from './commands/camel-run-command.js';
import { camelServerCommand } from './commands/camel-server-command.js';
import { cellsCommand } from './commands/cells-command.js';
import { codeCommand } from './commands/code-command.js';
import { completionCommand } from './commands/completion-command.js';
import { configCommand } from './commands/config-command.js';
import { consoleCommand } from './commands/console-command.js';
import { cpCommand } from './commands/cp-command.js';
import { doctorCommand } from './commands/doctor-command.js';
import { eventsCommand } from './commands/events-command.js';
import { executorCommand } from './commands/executor-subcommand.js';
import { forwardCommand } from './commands/forward-command.js';
import { hostsCommand } from './commands/hosts-command.js';
import { imagesCommand } from './commands/images-command.js';
import { logsCommand } from './commands/logs-command.js';
import { mcpCommand } from './commands/mcp-command.js';
import { openCommand } from './commands/open-command.js';
import { openHandsAgentServerCommand } from './commands/openhands-agent-server-command.js';
import { openHandsServerCommand } from './commands/openhands-server-command.js';
import { applyCommand, diffCommand, discardCommand } from './commands/overlay-commands.js';
import { pluginsCommand } from './commands/plugins-command.js';
import { psCommand } from './commands/ps-command.js';
import { riskCommand } from './commands/risk-command.js';
import { runCommand } from './commands/run-command.js';
import { serveCommand } from './commands/serve-command.js';
import { shellCommand } from './commands/shell-command.js';
import { toolsCommand } from './commands/tools-command.js';
import { topCommand } from './commands/top-command.js';
import { trustCommand, untrustCommand } from './commands/trust-command.js';
import { vscodeCommand } from './commands/vscode-command.js';
import { programOf } from './program-of.js';

/** All commands. */
export function createProgram(): Command {
  return programOf([
    runCommand(),
    shellCommand(),
    codeCommand(),
    vscodeCommand(),
    diffCommand(),
    applyCommand(),
    discardCommand(),
    actionCommand(),
    cellsCommand(),
    cpCommand(),
    psCommand(),
    logsCommand(),
    topCommand(),
    forwardCommand(),
    openCommand(),
    pluginsCommand(),
    toolsCommand(),
    doctorCommand(),
    configCommand(),
    completionCommand(),
    trustCommand(),
    untrustCommand(),
    hostsCommand(),
    riskCommand(),
    eventsCommand(),
    auditCommand(),
    serveCommand(),
    consoleCommand(),
    mcpCommand(),
    executorCommand(),
    imagesCommand(),
    openHandsAgentServerCommand(),
    openHandsServerCommand(),
    camelServerCommand(),
    camelRunCommand(),
  ]);
}
