/** `--messages` and `--print-messages`: the texts of a server, for operators with other words. */
import { type Command, CommanderError } from 'commander';
import { type Catalogue, readMessages } from '../compat/messages.js';

export interface MessagesOptions {
  messages?: string;
}

export function withMessages(command: Command, known: Catalogue): Command {
  return command
    .option('--messages <file>', "JSON file with texts that replace the server's own, by key")
    .option('--print-messages', 'print all texts with their keys and the values in them, and end')
    .on('option:print-messages', () => printMessages(messagesOf(command.opts<MessagesOptions>(), known)));
}

export function messagesOf({ messages }: MessagesOptions, known: Catalogue): Catalogue {
  return messages === undefined ? known : readMessages(known, messages);
}

/** In the form that --messages takes, with the values of a --messages file that stands before it. */
function printMessages(present: Catalogue): never {
  process.stdout.write(`${JSON.stringify(present, undefined, 2)}\n`);
  throw new CommanderError(0, 'workcell.messages', '');
}
