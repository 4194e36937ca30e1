/** What a code cell showed, and what is to say about it, in the words of the catalogue. */
import type { CodePart } from '../../cell/plugins/jupyter/jupyter-actions.js';
import type { Text } from '../messages.js';
import { words } from './openhands-words.js';

export function cellText(parts: readonly CodePart[]): Text {
  return parts.map(textOf);
}

function textOf(part: CodePart): Text {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'gap':
      return words('cell.gap', { bytes: part.omittedBytes });
    case 'no-output':
      return words('cell.no_output');
    case 'timeout':
      return words('cell.timed_out', { seconds: part.seconds });
    case 'directory':
      return words('cell.directory', { path: part.path });
    case 'interpreter':
      return words('cell.interpreter', { path: part.path });
    case 'kernel-died':
      return death(part.how);
    case 'kernel-ended':
      return words('cell.kernel_ended', { state_lost: stateLost });
    case 'reply-too-large':
      return words('cell.reply_too_large', { bytes: part.bytes });
    case 'too-few-answers':
      return words('cell.too_few_answers', { answers: part.answers });
    case 'malformed':
      return words('cell.malformed', { messages: part.messages });
  }
}

const stateLost = words('cell.state_lost');

function death(how: Extract<CodePart, { type: 'kernel-died' }>['how']): Text {
  switch (how.endedBy) {
    case 'oom':
      return words('cell.kernel_oom', { state_lost: stateLost });
    case 'killed':
      return words('cell.kernel_killed', { signal: how.signal, state_lost: stateLost });
    case 'lost':
      return words('cell.kernel_lost', { exit_code: how.exitCode ?? '', state_lost: stateLost });
  }
}
