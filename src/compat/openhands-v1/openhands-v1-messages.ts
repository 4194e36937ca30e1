import { failureMessages } from '../failure-messages.js';
import { wordsOf } from '../messages.js';

/** Everything the server says in words, by key, as for V0. Clients compare some of these texts. */
export const defaultV1Messages = {
  ...failureMessages,

  'http.unauthorized': 'Unauthorized',
  'http.failed': 'Internal Server Error',
  'http.unexpected': 'The server failed unexpectedly.',
  'http.not_found': 'Not Found',
  'http.other_half':
    '{method} {path} belongs to conversations and models, which this server leaves to others: it is a workspace only.',
  'http.not_ready': 'The workspace does not answer yet.',
  'http.broken_body': 'The body broke off before its end.',
  'http.large_body': 'The body is larger than {bytes} bytes.',
  'http.no_form': '{reason}',
  'http.bad_form': 'There was an error parsing the body: {reason}',
  'http.relative_path': 'Path must be absolute: {path}',
  'http.outside': 'Path is outside the workspace',

  // Its client knows a timeout by these words.
  'bash.timed_out': 'The command timed out after {seconds} s.\n',
  'bash.earlier_cut': '[... earlier output was left out ...]\n',
  'bash.too_many': '{most} commands are running already; wait for one of them to end.',
  'bash.no_event': 'Item not found',
  'bash.no_page': 'There is no page {page}; use a next_page_id of an answer.',
  'bash.bad_frame': 'The frame cannot be used: {reason}.',
  'bash.too_many_subscribers': 'Too many subscribers',

  'git.ref_and_commit': 'Give either ref or commit, not both.',

  'settings.elsewhere': 'Settings of agents and conversations are kept where those run; this is a workspace.',
  'settings.too_large': 'The settings would be larger than {characters} characters.',
  'settings.too_many_secrets': 'There are {most} secrets already; delete one first.',
  'settings.no_secret': "Secret '{name}' not found",
  'settings.no_workspace': 'Workspace not found',
  'settings.too_many_workspaces': 'There are {count} already, and {most} is the limit; delete some first.',

  'socket.no_conversation': 'Conversation not found',
  'desktop.disabled': 'Desktop is disabled in configuration',
  'vscode.disabled': 'VSCode is disabled in configuration',
  'vscode.bad_address': 'base_url is no address: {address}',
} as const;

/** A message of the catalogue, which gets its words when the answer leaves. */
export const words = wordsOf(defaultV1Messages);
