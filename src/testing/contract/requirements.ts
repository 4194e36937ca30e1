/** Every behaviour that each backend has, once, as data. `behaviours/` holds one test for each id. */

/** A behaviour that backends have. */
export interface Requirement {
  /** The behaviour, as a sentence; it becomes the name of the test. */
  readonly sentence: string;
  /** Only where the place has this trait; without it the behaviour belongs to every backend. */
  readonly trait?: Trait;
}

/**
 * `limited-tree`: file verbs reach only the workspace, not the whole inside of the cell. `kernels`: the cell has a
 * Python kernel. `checkpoints`: it takes a workspace by its mode. `forks`: it also starts others with the same files.
 */
export type Trait = 'limited-tree' | 'kernels' | 'checkpoints' | 'forks';

const table = {
  // Shell: what a command is and how it ends
  'shell.exit-code': 'a command answers with its output, its exit code and why it ended',
  'shell.failure-is-result': 'a command that fails is a result, not an error',
  'shell.multi-line': 'several lines run as one command',
  'shell.heredoc': 'a heredoc reaches the program byte for byte',
  'shell.syntax-error': 'an unclosed quote, heredoc or bracket fails, and the next command works',
  'shell.comment': 'a command that is only a comment succeeds and prints nothing',
  'shell.background': 'a command with & answers at once and its job goes on',
  'shell.exit': 'exit gives its code, and the next command gets a fresh shell and says so',
  'shell.set-e': 'set -e ends the shell at most, and the next command works',
  'shell.set-x': 'set -x shows the command and nothing of the machinery',
  'shell.exec': 'exec replaces the shell, and the next command gets a fresh one and says so',
  'shell.exec-redirect': 'a redirection of the whole shell does not hide the end of a command',
  'shell.cd': 'the working directory persists and is reported',
  'shell.state': 'variables, functions, aliases and options persist',
  'shell.status-variable': 'the exit code of the previous command is in $?',
  'shell.per-command-env': 'variables given with one command do not leak into the next',
  'shell.per-command-cwd': 'a directory given with one command does not leak into the next',
  'shell.special-characters':
    'tabs, exclamation marks, backslashes and unicode in a command arrive as written',
  'shell.long-command': 'a command of many kilobytes arrives whole',
  'shell.prompt-variables': 'changing PS1 and PROMPT_COMMAND does not confuse the session',
  'shell.loop-control': 'break, continue and return outside of a loop do not confuse the session',
  'shell.odd-cwd': 'a working directory with quotes, newlines and emoji works and is reported exactly',
  'shell.removed-cwd': 'a working directory that was removed does not brick the session',
  'shell.terminal': 'a command sees a terminal',
  'shell.killed':
    'a shell that is killed from inside is reported, and the next command gets a fresh one and says so',
  'shell.sessions': 'sessions have their own state and run at the same time',
  'shell.list-sessions': 'sessions are listed with what runs in them',
  'shell.close-session': 'closing a session ends what runs in it and forgets its state',

  // Shell: talking to a running command
  'input.line': 'a line of input reaches the running command',
  'input.no-echo': 'a program that turned echo off gets its input unseen',
  'input.password': 'a password prompt is shown and answered',
  'input.python': 'a Python prompt can be driven line by line',
  'input.node': 'a Node prompt can be driven line by line',
  'input.nested-shell': 'a shell inside the shell can be driven and left',
  'input.interrupt': 'C-c interrupts the running command',
  'input.suspend': 'C-z suspends the running command and the session is free',
  'input.end': 'C-d ends the input of the running command',
  'input.pager': 'a pager shows its first screen and can be left with q',
  'input.git-log': 'git log does not wait for a person',
  'input.alternate-screen': 'a full-screen program is shown as its screen and leaves no trace',
  'input.raw-terminal': 'a program that leaves the terminal in raw mode does not brick the session',
  'input.unread': 'input that a program does not read yet delays nothing else, and reaches it whole',
  'input.later-output':
    'an empty command fetches what the running command printed since, at once unless a limit says how long to wait',
  'input.busy': 'a new command is refused with session-busy while another runs, and that one is left alone',
  'input.nothing-runs': 'input while nothing runs is refused with session-not-running',

  // Shell: output
  'output.large': '100 MB of output come back as head and tail, and the rest by its handle',
  'output.invalid-utf8': 'bytes that are not UTF-8 do no harm',
  'output.nul': 'NUL bytes do no harm',
  'output.progress-bar': 'a progress bar is folded to what a person would see',
  'output.ansi': 'escape sequences are removed from the output and kept in the stream',
  'output.stream': 'output arrives while the command runs',
  'output.sequence': 'sequence numbers count bytes without a gap',
  'output.split-characters': 'characters of several bytes are never cut in the stream',
  'output.slow-listener': 'a listener that takes its time gets everything in order',
  'output.both-streams': 'standard output and standard error appear in the order they were written',
  'output.without-newline': 'output without a final newline is complete',
  'output.wide-lines': 'a line that is wider than the terminal is not broken',
  'output.forged-end': 'a program cannot forge the end of its command',
  'output.unknown-handle': 'an unknown output handle is refused with output-not-found',

  // Shell: limits
  'limits.no-change': 'a soft timeout returns and leaves the command alive and addressable',
  'limits.timeout': 'a hard timeout ends the whole process tree',
  'limits.timeout-double-fork': 'a hard timeout also ends processes that left their parent and session',
  'limits.timeout-ignored-signals': 'a hard timeout also ends a program that ignores signals',
  'limits.cancel': 'aborting the signal ends the command',
  'limits.cancel-early': 'a signal that is aborted already refuses the action',
  'limits.output': 'a command that prints more than its limit is ended',

  // Files
  'files.round-trip': 'what is written is read back',
  'files.bytes': 'bytes are written and read exactly',
  'files.parents': 'writing makes the directories on the way',
  'files.append': 'appending keeps what was there',
  'files.mode': 'a mode is set when given and kept when not',
  'files.atomic': 'rewriting leaves no temporary file and never shows half a file',
  'files.lines': 'a range of lines is read',
  'files.media-type': 'an image and a PDF are read as base64 with their media type',
  'files.too-large': 'a file above the limit is refused with file-too-large',
  'files.not-found': 'a missing file is refused with not-found',
  'files.not-a-file': 'reading a directory, a pipe or a device is refused with not-a-file, without waiting',
  'files.odd-names': 'names with quotes, newlines and unicode work',
  'files.shell-agrees': 'the shell sees the same files',
  'files.list': 'a directory is listed sorted, to a depth, within a limit',
  'files.stat': 'stat tells what a path is, and a link is not followed',
  'files.exists': 'exists tells whether something is there',
  'files.make-dir': 'directories are made with their parents, twice without complaint',
  'files.remove': 'files and directories are removed, full ones only when asked',
  'files.move': 'files and directories move, over others only when asked',
  'files.copy': 'files and directories are copied, links as links',
  'files.links': 'a link within the tree is followed by read and write',
  'files.watch': 'changes are reported from the moment the watch stands until it is left',
  'files.outside': { sentence: 'a path that leads out is refused with path-outside', trait: 'limited-tree' },
  'files.outside-link': {
    sentence: 'a link that leads out is refused with path-outside',
    trait: 'limited-tree',
  },

  // Transfer
  'transfer.file': 'a file is uploaded and downloaded byte for byte',
  'transfer.range': 'a part of a file is downloaded',
  'transfer.large': 'a large file streams through',
  'transfer.tar': 'a directory travels as tar',
  'transfer.zip': 'a directory travels as zip',
  'transfer.hostile-archive':
    'an archive that would write outside its target is refused and writes nothing there',
  'transfer.broken-archive': 'bytes that are no archive are refused with archive-refused',
  'transfer.directory-plain': 'a directory without a format is refused with not-a-file',

  // Edit
  'edit.replace': 'text is replaced, with a diff and a numbered snippet',
  'edit.ambiguous': 'text that is there twice is refused, and the lines are named',
  'edit.no-match': 'text that is not there is refused with edit-no-match',
  'edit.replace-all': 'all places are replaced when asked',
  'edit.insert': 'lines are inserted at the beginning, in the middle and at the end',
  'edit.several': 'several edits happen together or not at all',
  'edit.undo': 'edits are undone one by one, the last first',
  'edit.nothing-to-undo': 'undo without an edit is refused with edit-nothing-to-undo',
  'edit.line-endings': 'line endings, a byte order mark and the mode are kept',
  'edit.missing-file': 'editing a missing file is refused with not-found',
  'edit.incomplete': 'an edit that does not say what to do is refused with invalid-action',

  // Search
  'search.glob': 'files are found by pattern, ignored and hidden ones left out',
  'search.glob-limit': 'a search for files stops at its limit',
  'search.grep': 'lines are found by regular expression with their numbers',
  'search.grep-options': 'case, plain text, file patterns and context lines are respected',
  'search.grep-limit': 'a search for lines stops at its limit and skips binary files',
  'search.bad-pattern': 'a pattern that cannot be used is refused with invalid-pattern',

  // Processes
  'processes.bytes': 'standard output and standard error come apart and byte for byte',
  'processes.argv': 'arguments reach the program as they are, without a shell',
  'processes.command': 'a string runs in a shell',
  'processes.stdin': 'standard input is given whole or piece by piece',
  'processes.no-stdin': 'a program that reads without input meets the end of it',
  'processes.environment': 'working directory and variables are those asked for',
  'processes.exit': 'exit code and signal are told apart',
  'processes.background': 'a process goes on in the background and is found again by id',
  'processes.signal': 'a signal reaches the process and all it started',
  'processes.wait-timeout': 'waiting can end before the process does',
  'processes.wait-abort': 'aborting a wait leaves the process alone',
  'processes.timeout': 'a process that takes too long is ended with all it started',
  'processes.output-limit': 'a process that prints more than its limit is ended',
  'processes.stream': 'output streams with contiguous sequence numbers and can be resumed',
  'processes.truncated': 'long output is cut in the result and whole behind its handle',
  'processes.missing-program': 'a program that does not exist is refused with spawn-failed',
  'processes.unknown': 'an unknown process is refused with process-not-found',

  // Terminals
  'ports.forward':
    'a server that listens in the cell is reached through a forwarded port, a closed one is not',
  'terminals.session': 'a terminal takes input, shows output and ends with an exit code',
  'terminals.resize': 'a terminal has the size it was given and follows a change',
  'terminals.close': 'closing a terminal ends what runs on it',

  // Environment, statistics, events
  'env.reaches-shells': 'a variable reaches shells that already run',
  'env.reaches-processes': 'a variable reaches new processes and sessions',
  'env.unset': 'a removed variable is gone everywhere',
  'env.odd-values': 'values with quotes, newlines and unicode arrive as they are',
  'env.bad-name': 'a name that no shell accepts is refused with invalid-action',
  'stats.figures': 'statistics count processes, memory, disk and time',
  'events.order': 'actions and observations are recorded in order, with their cause',
  'events.errors': 'a refused action is recorded with its error',
  'events.live': 'a subscriber gets new events as they come, and the end at close',

  // Runtime
  'runtime.facts': 'a runtime knows its id, backend, status, isolation and workspace',
  'runtime.status': 'each change of status is told in order',
  'runtime.execute': 'any action as JSON gives its observation',
  'runtime.concurrent': 'several actions run at once',
  'runtime.close-twice': 'closing twice is fine',
  'runtime.closed': 'everything after close is refused with runtime-closed',
  'runtime.close-ends-all': 'close ends what still runs, detached processes included',
  'runtime.close-settles': 'close settles calls that are under way',
  'runtime.start-aborted': 'a start whose signal is aborted is refused with cancelled',
  'runtime.min-isolation': 'a start below the demanded isolation is refused with isolation-too-weak',

  // Checkpoints
  'checkpoints.rewind': {
    sentence: 'going back restores content, modes, links, odd names and empty directories, and can be undone',
    trait: 'checkpoints',
  },
  'checkpoints.take-over': {
    sentence:
      'a directory of the caller stays as it is until changes are applied, and its own are never lost',
    trait: 'checkpoints',
  },
  'checkpoints.bounded': {
    sentence: 'more files than a checkpoint may hold are refused with file-too-large, and less works again',
    trait: 'checkpoints',
  },
  'checkpoints.busy': {
    sentence: 'a checkpoint while a command runs is whole, or refused with session-busy',
    trait: 'checkpoints',
  },
  'checkpoints.fork': {
    sentence: 'forks begin with the same files, share nothing that they change, and are others to themselves',
    trait: 'forks',
  },
  'checkpoints.merge': {
    sentence: 'what a fork did is merged, line by line, and conflicts are data',
    trait: 'forks',
  },

  // Code cells
  'code.state': { sentence: 'a cell sees what earlier cells of its context left', trait: 'kernels' },
  'code.contexts': { sentence: 'contexts share nothing, run at once, and are listed', trait: 'kernels' },
  'code.outputs': {
    sentence: 'streams, results, displays and errors come typed and in their order',
    trait: 'kernels',
  },
  'code.media': { sentence: 'images come in base64, and as files when asked', trait: 'kernels' },
  'code.stream': { sentence: 'what code prints streams as it is printed, in sequence', trait: 'kernels' },
  'code.displays': { sentence: 'what code shows arrives as it is shown, updates included', trait: 'kernels' },
  'code.follows-shell': {
    sentence: 'a running kernel follows the working directory of the shell and its variables',
    trait: 'kernels',
  },
  'code.input': {
    sentence: 'input is answered when answers are given, and refused otherwise',
    trait: 'kernels',
  },
  'code.magics': { sentence: 'magics and shell escapes work', trait: 'kernels' },
  'code.timeout': {
    sentence: 'a cell that takes too long is interrupted and keeps its state',
    trait: 'kernels',
  },
  'code.stubborn': {
    sentence: 'a cell that cannot be interrupted is ended with its kernel, and the next one works',
    trait: 'kernels',
  },
  'code.abort': { sentence: 'aborting interrupts the cell', trait: 'kernels' },
  'code.interrupt': { sentence: 'a running cell is interrupted from elsewhere', trait: 'kernels' },
  'code.restart': { sentence: 'a restarted or closed context starts afresh', trait: 'kernels' },
  'code.death': {
    sentence: 'the death of a kernel is told from an error, and the next cell works',
    trait: 'kernels',
  },
  'code.bounded': {
    sentence: 'long output is cut in the observation and whole behind its handle',
    trait: 'kernels',
  },
  'code.ipython': { sentence: 'run_ipython answers in the form of OpenHands', trait: 'kernels' },
  'code.unknown-language': {
    sentence: 'a language without a kernel is refused with plugin-unavailable and how to get one',
    trait: 'kernels',
  },
  // Tools
  'tools.alike': 'tools in the cell do what they do in this process',
  'tools.captured': 'what concurrent calls print is not mixed',
  'tools.redirected': 'what a call prints can be shown as it comes',
  'tools.reset': 'after a reset tools work and what they kept is gone',
  'tools.inside': 'a function without entry point is shipped as source, and may use the runtime of its cell',
  'tools.hostile':
    'tools that hang, print without end, exit, leak or fork have a typed outcome, and the next call works',
  'tools.bad-input':
    'unknown tools, arguments that do not fit and entry points that lead nowhere are refused',

  // Bad input
  'refused.unknown-action': 'an unknown action is refused with invalid-action, and the known ones are named',
  'refused.unknown-key': 'an unknown key is refused with invalid-action, and it is named',
  'refused.bad-value': 'a value of the wrong kind is refused with invalid-action, and the field is named',
  'refused.nul-in-path': 'a NUL character in a path or command is refused with invalid-action',
  'refused.unknown-session': 'an unknown session is refused with session-not-found',
  'refused.unknown-backend': 'an unknown backend is refused with backend-unknown',
  'refused.unknown-option': 'an unknown option of a backend is refused with invalid-config',
  'refused.missing-cwd': 'a command in a directory that does not exist is refused with not-found',
} as const satisfies Record<string, string | Requirement>;

/** Names a behaviour, such as `shell.exit-code`. */
export type RequirementId = keyof typeof table;

/** By id; `contractTests` has one test for each. */
export const requirements = Object.fromEntries(
  Object.entries(table).map(([id, entry]) => [id, typeof entry === 'string' ? { sentence: entry } : entry]),
) as Readonly<Record<RequirementId, Requirement>>;
