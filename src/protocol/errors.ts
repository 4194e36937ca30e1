/** Without a library, because tools inside a cell throw these errors too. */
interface ErrorRow {
  /** HTTP status of the answer that carries this error. */
  readonly status: number;
  /** True when the same request may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** Exit code of the command line. */
  readonly exitCode: number;
  readonly summary: string;
}

/** Every error code. HTTP status, exit code and the reference page derive from this table. */
export const errorTable = {
  'invalid-action': row(400, false, 64, 'The action is unknown or does not fit its schema.'),
  'invalid-config': row(400, false, 78, 'Workcell does not accept a configuration key or value.'),
  'config-untrusted': row(
    403,
    false,
    78,
    'A configuration file asks for more than it may, or other users can change it.',
  ),
  'invalid-pattern': row(400, false, 64, 'The glob or regular expression is not valid, or too complex.'),
  'path-outside': row(
    403,
    false,
    77,
    'The path leads out of the part of the cell that file verbs may reach.',
  ),
  'not-found': row(404, false, 66, 'The file or directory does not exist.'),
  'already-exists': row(409, false, 73, 'Something exists where the result would go.'),
  'not-a-file': row(409, false, 66, 'The path names something other than a regular file.'),
  'not-a-directory': row(409, false, 66, 'The path names something other than a directory.'),
  'directory-not-empty': row(409, false, 73, 'The directory has entries and the request was not recursive.'),
  'permission-denied': row(403, false, 77, 'The operating system refuses access to the path.'),
  'file-too-large': row(413, false, 65, 'The file or result is larger than the limit.'),
  'file-changed': row(412, true, 65, 'The file changed during a download or an edit.'),
  'disk-full': row(507, true, 74, 'The disk of the cell is full.'),
  'edit-no-match': row(409, false, 65, 'The text to replace is not in the file.'),
  'edit-ambiguous': row(409, false, 65, 'The text to replace is in the file more than once.'),
  'edit-nothing-to-undo': row(409, false, 65, 'The file has no edit to undo.'),
  'archive-refused': row(
    422,
    false,
    65,
    'The archive is malformed, too large, or has a member that is not safe to unpack.',
  ),
  denied: row(403, false, 77, 'The policy, a guard or a person refused the action.'),
  'confirmation-timeout': row(403, true, 77, 'The action needs a confirmation, and nobody gave one in time.'),
  'session-busy': row(409, true, 75, 'The shell session is still running another command.'),
  'session-not-found': row(404, false, 66, 'There is no shell session with that name.'),
  'session-not-running': row(409, false, 65, 'The shell session runs no command that could take input.'),
  'process-not-found': row(404, false, 66, 'There is no process with that id.'),
  'output-not-found': row(404, false, 66, 'There is no output with that id, or it is no longer kept.'),
  'not-a-repository': row(409, false, 66, 'The directory belongs to no git repository.'),
  'unknown-ref': row(404, false, 66, 'The git repository has no such branch, tag or commit.'),
  'git-failed': row(422, false, 65, 'Git failed.'),
  'shell-missing': row(503, false, 69, 'The cell has no usable shell.'),
  'spawn-failed': row(422, false, 127, 'The program did not start.'),
  'capability-unsupported': row(501, false, 69, 'This backend cannot do that.'),
  'plugin-unavailable': row(
    503,
    true,
    69,
    'The plugin cannot start, mostly because something it needs is missing.',
  ),
  'package-missing': row(
    503,
    false,
    69,
    'Workcell needs an optional package; the message names the command that installs it.',
  ),
  'invalid-tool': row(400, false, 64, 'A tool, or the module it comes from, is not valid.'),
  'tool-not-found': row(404, false, 66, 'There is no tool with that name.'),
  'invalid-arguments': row(400, false, 64, 'The arguments do not fit the parameters of the tool.'),
  'invalid-result': row(
    422,
    false,
    65,
    'The result of the tool does not fit its schema, JSON or the size limit.',
  ),
  'tool-changed': row(409, false, 65, 'The tool changed since you listed the tools.'),
  'mcp-failed': row(502, true, 69, 'An MCP server failed or refused.'),
  'tool-failed': row(422, false, 70, 'The tool threw an error.'),
  'tool-host-lost': row(503, true, 69, 'The process that runs the tools of the cell ended during the call.'),
  'backend-unknown': row(400, false, 64, 'There is no backend with that name.'),
  'backend-unavailable': row(503, true, 69, 'The backend cannot start a cell on this machine now.'),
  'isolation-too-weak': row(503, false, 69, 'The backend cannot enforce the isolation that you demand.'),
  'cell-not-found': row(404, false, 66, 'There is no such cell, or nobody kept it.'),
  'cell-in-use': row(409, true, 75, 'Another process works in the cell.'),
  'image-missing': row(404, false, 66, 'The engine does not have the image, and cannot get it.'),
  'port-taken': row(409, true, 73, 'Something else uses the port.'),
  'image-unsuitable': row(422, false, 65, 'The image lacks what a cell needs.'),
  'build-failed': row(422, false, 65, 'The image build failed.'),
  'store-unavailable': row(503, true, 74, 'Workcell cannot open, read or write the event store.'),
  'runtime-closed': row(409, false, 69, 'The runtime is closed.'),
  'runtime-disconnected': row(503, true, 69, 'The cell died, or Workcell cannot reach it any more.'),
  unauthorized: row(401, false, 77, 'The server got no token, or a wrong one.'),
  'request-refused': row(
    403,
    false,
    77,
    'The server does not answer requests for this host or from this origin.',
  ),
  'request-too-large': row(
    413,
    false,
    65,
    'The request is larger, or nested more deeply, than the server accepts.',
  ),
  'rate-limited': row(429, true, 75, 'The server gets more requests or connections than it accepts.'),
  'version-mismatch': row(
    409,
    false,
    69,
    'The two ends of a connection speak different versions of the protocol.',
  ),
  cancelled: row(499, true, 130, 'The caller cancelled the request.'),
  'timed-out': row(504, true, 124, 'The request took longer than its limit.'),
  internal: row(500, false, 70, 'A defect in Workcell or a broken answer from a cell.'),
} as const satisfies Record<string, ErrorRow>;

/** The code of an error, as in the table. */
export type ErrorCode = keyof typeof errorTable;

/** Every error code. */
export const errorCodes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]];

/** The form in which an error crosses a wire. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Record<string, unknown> | undefined;
}

const marker = Symbol.for('workcell.error');

/** The one error class: `code` says which row of the table, `details` the values involved. */
export class WorkcellError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WorkcellError';
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, marker, { value: true });
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable;
  }

  get exitCode(): number {
    return errorTable[this.code].exitCode;
  }

  /** Recognises errors of this class across several copies of the package. */
  static isInstance(value: unknown): value is WorkcellError {
    return typeof value === 'object' && value !== null && marker in value;
  }

  toJSON(): ErrorBody {
    return { code: this.code, message: this.message, details: this.details };
  }
}

function row(status: number, retryable: boolean, exitCode: number, summary: string): ErrorRow {
  return { status, retryable, exitCode, summary };
}
