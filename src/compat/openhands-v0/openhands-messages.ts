import { failureMessages } from '../failure-messages.js';

/**
 * Everything the server says in words, by key. `{name}` stands for a value; `{{` and `}}` for braces. Clients show these
 * texts to a model, and some look for parts of them; `--messages` replaces any of them.
 */
export const defaultMessages = {
  ...failureMessages,

  // Texts that clients look for: the whole content for a file that is not text, the words for a missing one, the
  // beginning of a failed editor command, and the answer to a wrong key.
  'read.binary': 'ERROR_BINARY_FILE',
  'read.not_found': 'File not found: {path}. The working directory is {cwd}.',
  'edit.failed': 'ERROR:\n{reason}',
  'http.invalid_key': 'Invalid API Key',
  'http.invalid_request': 'Invalid request parameters',
  'http.not_found': 'Not Found',
  'http.only_here': 'Only from this machine.',
  'http.refused': '{message}',
  'http.failed': 'The server failed unexpectedly. Please try again.',

  'action.unknown': 'There is no action "{action}" here. Known ones: {known}.',
  'action.misfit': 'The action "{action}" does not fit: {problems}.',
  'action.unreadable': 'The action does not fit: {problems}.',
  'action.rejected': 'The user rejected this action; it was not executed.',
  'action.no_browser': 'The browser is not available in this server.',
  'action.no_eval_task': 'This server has no BrowserGym task, so there is no goal and no reward to tell.',
  'action.llm_edit':
    'This server has no model for edits by drafts; name one as [openhands.llm_editor] in its configuration, or use "oh_aci" edits.',

  'bash.proceed':
    'You may send an empty command to wait for more output, send input with is_input=true, stop it with "C-c", "C-z" or "C-d" (also with is_input=true), or give a larger timeout to the next command.',
  'bash.nothing_to_fetch': 'ERROR: Nothing is running, so there is no further output to fetch.',
  'bash.nothing_to_talk_to': 'ERROR: Nothing is running that could take this input.',
  'bash.previous_output': '[This is output of the previous command.]\n',
  'bash.earlier_cut': '[The output was too long to keep; {lines} lines of it are left.]\n',
  'bash.completed': '\n[The command ended with exit code {exit_code}.]',
  'bash.completed_after_key': '\n[CTRL+{key} was sent; the command ended with exit code {exit_code}.]',
  'bash.no_change': '\n[No new output for {seconds} seconds; the command still runs. {proceed}]',
  'bash.timed_out': '\n[The command timed out after {seconds} seconds and still runs. {proceed}]',
  'bash.refused': '\n["{command}" was not executed, because the previous command still runs. {proceed}]',
  'bash.shell_replaced':
    '\n[The shell ended with this command. The next one runs in a fresh shell, in the same directory but without the variables, functions and options of before.]',
  'bash.truncated': '\n[... the middle of this observation is left out because of its length ...]\n',
  'bash.several_commands':
    'ERROR: Several commands at once are not allowed. Send them one by one, or chain them with && or ;\nThese were given:\n{commands}',

  'cell.no_output': '[Code executed successfully with no output]',
  'cell.timed_out': '[Execution timed out ({seconds} seconds).]',
  'cell.gap': '\n[... {bytes} bytes left out ...]\n',
  'cell.directory': '[Jupyter current working directory: {path}]',
  'cell.interpreter': '[Jupyter Python interpreter: {path}]',
  'cell.kernel_oom':
    'The kernel died while the cell ran. It was killed because the cell ran out of memory. {state_lost}',
  'cell.kernel_killed': 'The kernel died while the cell ran. It was ended by {signal}. {state_lost}',
  'cell.kernel_lost':
    'The kernel died while the cell ran. It ended by itself, with exit code {exit_code}. {state_lost}',
  'cell.kernel_ended': 'The code cell did not react to the interrupt, so its kernel was ended. {state_lost}',
  'cell.state_lost': 'Its state is lost; the next code cell starts a new one.',
  'cell.reply_too_large':
    "The kernel's reply has {bytes} bytes, which is too large to be read; an error with a long traceback is the usual reason.",
  'cell.too_few_answers':
    'The code asked for input more often than the {answers} answers it was given, and was interrupted.',
  'cell.malformed': '{messages} messages of the kernel were malformed or not signed, and ignored.',

  'read.is_directory': '{path} is a directory; a file is needed.',
  'read.too_large': '{path} is larger than 64 MiB; look at parts of it with a command.',
  'read.undecodable': '{path} cannot be decoded as UTF-8 text.',

  'edit.relative_path': 'The path {path} is not absolute; it must start with "/".',
  'edit.relative_path_near':
    'The path {path} is not absolute; it must start with "/". Perhaps you meant {suggestion}?',
  'edit.exists': '{path} exists already; "create" does not overwrite it.',
  'edit.missing': 'The path {path} does not exist. Give one that does.',
  'edit.is_directory': '{path} is a directory, for which only "view" can be used.',
  'edit.is_document': '{path} is a document, for which only "view" can be used.',
  'edit.document_view': '{path} is a document, and no converter to text is installed here.',
  'edit.too_large': '{path} is larger than 10 MB, which is the limit of this editor.',
  'edit.is_binary': '{path} is a binary file, which this editor cannot show or change.',
  'edit.parent_missing': 'The directory of {path} does not exist; make it first.',
  'edit.missing_parameter': 'Parameter `{parameter}` is required for {command}.',
  'edit.unknown_command': 'Unknown command "{command}". The allowed ones are: {known}.',
  'edit.invalid_parameter': 'Invalid `{parameter}`: {value}. {why}',
  'edit.not_an_integer': 'It must be an integer.',
  'edit.not_a_range': 'It must be a list of two integers.',
  'edit.no_range_for_directory': 'It cannot be used with a directory.',
  'edit.range_start': 'Its first element must be within the lines of the file: [1, {lines}].',
  'edit.range_end': 'Its second element must be -1 or at least the first one, which is {start}.',
  'edit.insert_line': 'It must be within [0, {lines}], the lines of the file.',
  'edit.same_strings': '`old_str` and `new_str` are the same, so nothing would change.',
  'edit.no_match': 'Nothing was replaced: `{old_str}` is not in {path} as it is written here.',
  'edit.several_matches':
    'Nothing was replaced: `{old_str}` is there more than once, in lines [{lines}]. Add lines around it until it is unique.',
  'edit.no_history': 'There is no edit of {path} to undo.',
  'edit.created': 'File created at: {path}',
  'edit.numbered': 'Here is {what} with line numbers, as `cat -n` shows it:\n{lines}\n',
  'edit.snippet_of': 'a part of {path}',
  'edit.edited':
    'The file {path} was edited. {shown}Review the change; edit the file again if it is not as wanted.',
  'edit.undone': 'The last edit of {path} was undone. {shown}',
  'edit.end_clamped':
    'NOTE: the range ends at line {end}, and the file has {lines} lines; it is shown up to its end.\n',
  'edit.directory': 'Files and directories up to 2 levels below {path}, without hidden ones:\n{entries}',
  'edit.hidden_entries':
    "\n\n{count} hidden entries of this directory are left out; 'ls -la {path}' shows them.",
  'edit.text_clipped':
    '<response clipped><NOTE>Only a part of this file is shown because of its length. Find the line numbers of interest with `grep -n`, then view them with `view_range`.</NOTE>',
  'edit.directory_clipped':
    '<response clipped><NOTE>Only a part of this directory is shown because of its length. Use `ls -la` in the shell for single directories.</NOTE>',

  'edit.mistakes': '\n[The change brings these mistakes:\n{mistakes}]\n',
  'edit.mistake': 'line {line}: {message}\n',

  'draft.range':
    'The lines {start} to {end} are not in {path}. The first must be within [1, {lines}], or -1 to append; the last from the first to {lines}, or -1 for the end.',
  'draft.too_long':
    'The lines {start} to {end} are {count}, and a draft may be for {most} at a time. Give a smaller range. The parts of the file that are most like the draft:\n{parts}',
  'draft.part': '(lines {start} to {end})\n{text}\n',
  'draft.failed': 'The model could not apply the draft: {reason}. Nothing was changed.',
  'draft.no_code': 'its answer has no <updated_code>',
  'draft.no_answer': 'it did not answer: {reason}',

  'browse.url': '[The page is at {url}]',
  'browse.no_focus': '[No element has the focus.]',
  'browse.focused': '[The element with the focus is {bid}]',
  'browse.screenshot': '[A picture of it lies at {path}]',
  'browse.succeeded': '[The action was done.]',
  'browse.failed': '[The action failed: {error}]',
  'browse.downloaded': 'The browser saved a file as {path}',
  'browse.text_begins': '[--- text of the page ---]',
  'browse.text_ends': '[--- end of the text ---]',
  'browse.tree_begins': '[--- accessibility tree ---]',
  'browse.tree_ends': '[--- end of the tree ---]',

  'transfer.relative_destination': 'The destination must be an absolute path.',
  'transfer.relative_path': 'The path must be absolute.',
  'transfer.missing': 'There is nothing at {path}.',
  'transfer.too_many': '{path} has more files than one archive takes; download its parts.',
  'transfer.not_a_zip': 'A recursive upload must be a .zip file.',
  'transfer.bad_name': '"{name}" cannot be the name of an uploaded file.',
  'transfer.no_file': 'The form has no field "file" with a file name.',
  'transfer.bad_form': '{reason}',

  'view.title': 'File Viewer',
  'view.title_of': 'File Viewer - {name}',
  'view.relative_path': 'The path must be absolute.',
  'view.missing': 'There is no file {path}.',
  'view.is_directory': '{path} is a directory.',
  'view.unknown_type': 'Only {known} files can be shown.',

  'mcp.taken': 'The list of MCP servers was taken: {servers}.',
  'mcp.none': 'none',
  'mcp.not_a_list': 'The body must be a list of MCP servers.',
  'mcp.misfit': 'The list of MCP servers does not fit: {problems}.',
  'mcp.unknown_tool': 'Unknown tool: {tool}',
  'mcp.failed': '{reason}',

  // The one-line `message` of an observation, which is for people.
  'summary.run': 'Command "{command}": exit code {exit_code}.',
  'summary.run_ipython': 'Ran a code cell.',
  'summary.read': 'Read {path}.',
  'summary.write': 'Wrote {path}.',
  'summary.edit': 'Edited {path}.',
  'summary.browse': 'Visited {url}.',
} as const;
