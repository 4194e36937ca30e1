/** Turns refusals of the operating system into typed errors that say what failed, where, and what to try. */
import { type ErrorCode, WorkcellError } from '../../../protocol/index.js';

/** Runs a file operation and explains whatever it throws. `verb` completes "Cannot …". */
export function explained<T>(verb: string, path: string, operation: () => T): T {
  try {
    const result = operation();
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => {
      throw fileError(error, verb, path);
    }) as T;
  } catch (error) {
    throw fileError(error, verb, path);
  }
}

/** Returns the typed error for a failed system call; passes typed errors through. */
export function fileError(error: unknown, verb: string, path: string): unknown {
  if (WorkcellError.isInstance(error)) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const [code, what, advice] = explanationOf(errno);
  return problem(code, `Cannot ${verb} ${quote(path)}: ${what}. ${advice}`, path, { errno, cause: error });
}

/** Returns the typed error for whatever failed for lack of space; passes other errors through. */
export function spaceError(error: unknown, what: string): unknown {
  if (!isErrno(error, 'ENOSPC', 'EDQUOT')) return error;
  return new WorkcellError(
    'disk-full',
    `The ${what} failed: the disk of the cell is full. Remove files that you do not need, also temporary ones, or give the cell more disk.`,
    { details: { errno: errnoOf(error) }, cause: error },
  );
}

/** A typed error about one path. */
export function problem(
  code: ErrorCode,
  message: string,
  path: string,
  options: { errno?: string; cause?: unknown } = {},
): WorkcellError {
  const { errno, cause } = options;
  return new WorkcellError(code, message, {
    details: { path, ...(errno === undefined ? {} : { errno }) },
    ...(cause === undefined ? {} : { cause }),
  });
}

export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('errno' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  const errno = errnoOf(error);
  return errno !== undefined && codes.includes(errno);
}

/** Fails like a system call does, so that the caller adds the path and the advice. */
export function refusal(code: keyof typeof explanations): Error {
  return Object.assign(new Error(code), { code, errno: 0 });
}

/** A path for a message: cuts a very long one and shows control characters as escapes. */
export function quote(path: string): string {
  return JSON.stringify(path.length > 500 ? `${path.slice(0, 500)}…` : path);
}

type Explanation = readonly [code: ErrorCode, what: string, advice: string];

const full: Explanation = [
  'disk-full',
  'there is no space left where the cell keeps its files',
  'Remove files that are not needed, or give the cell more disk.',
];
const denied: Explanation = [
  'permission-denied',
  'the operating system refuses access',
  'Check its owner and permission bits, and those of the directory it is in.',
];
const busy: Explanation = [
  'permission-denied',
  'it is in use by the system, for instance as a mount point',
  'Change it with a command in the shell instead.',
];
const special: Explanation = [
  'not-a-file',
  'it is a device, socket or pipe, not a regular file',
  'Use a command in the shell to talk to it.',
];
const descriptors: Explanation = [
  'internal',
  'too many files are open on this machine',
  'Close other work, or raise the limit of open files.',
];

const explanations = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: denied,
  EPERM: denied,
  EROFS: [
    'permission-denied',
    'it is on a read-only file system',
    'Write to a directory of the workspace instead.',
  ],
  EBUSY: busy,
  ETXTBSY: busy,
  ENXIO: special,
  ENODEV: special,
  EMFILE: descriptors,
  ENFILE: descriptors,
  ENOENT: [
    'not-found',
    'there is no such file or directory',
    'List the parent directory to see what is there.',
  ],
  ESTALE: ['not-found', 'it was removed meanwhile', 'List the parent directory to see what is there.'],
  ENOTDIR: ['not-a-directory', 'a part of the path is not a directory', 'Check each part of the path.'],
  EISDIR: ['not-a-file', 'it is a directory', 'Name a file in it, or list the directory.'],
  EEXIST: ['already-exists', 'something is there already', 'Choose another name, or ask to overwrite it.'],
  ENOTEMPTY: [
    'directory-not-empty',
    'the directory has entries',
    'Ask for a recursive removal to remove them, too.',
  ],
  ELOOP: ['not-found', 'it leads through too many symbolic links', 'Check the links for a loop.'],
  ENAMETOOLONG: ['invalid-action', 'a name in it is too long', 'Names may have 255 bytes, paths 4096.'],
  EINVAL: [
    'invalid-action',
    'the file system does not accept that',
    'Check the name, and that nothing moves into itself.',
  ],
  EFBIG: ['file-too-large', 'the file would be larger than the file system allows', 'Write less.'],
  /** Our own code: the path leads into a file system such as /proc. */
  KERNEL: [
    'path-outside',
    'it is in a file system of the kernel, such as /proc, which file verbs do not reach',
    'Use a command in the shell.',
  ],
  /** Our own code: a hard link, whose other names may be outside the cell. */
  SHARED: [
    'file-too-large',
    'it has further names, by which others would see the change, and is too large to be copied first',
    'Copy it to a name of its own, and append there.',
  ],
  /** Our own code: somebody replaced something between two steps. */
  SWAPPED: ['not-found', 'it was replaced while it was opened', 'Try again.'],
} as const satisfies Record<string, Explanation>;

function explanationOf(errno: string): Explanation {
  if (Object.hasOwn(explanations, errno)) return explanations[errno as keyof typeof explanations];
  return [
    'internal',
    `the operating system answered ${errno}`,
    'Try again, or look at it with a command in the shell.',
  ];
}
