/** What a cell looks like from inside, in places that more than one part must agree on. */

export const cellUser = { name: 'agent', uid: 1000, gid: 1000, home: '/home/agent' } as const;

export const workspaceInside = '/workspace';

/** Read-only from inside, so no process there can put a link in the place of a file that this side opens. */
export const exchangeInside = '/run/workcell';

/**
 * Files for Workcell's own processes inside. No process inside can list or watch the directory or guess the names of
 * its pipes, so only the process that gets a name can open it.
 */
export const controlDirectory = 'control';
export const controlInside = `${exchangeInside}/${controlDirectory}`;

/** The pipes of the relay, in the control directory, until it has them open. */
export const requestsFile = 'requests';
export const reportsFile = 'reports';

/** Exists when the kernel took the limits of the namespaces. */
export const boundedFile = 'bounded';

/** Writable for all inside, and a separate mount, so nothing can replace it. */
export const socketsInside = '/tmp';
/** This side's own Node, wherever it lies here. */
export const nodeInside = '/run/workcell-node';

/** Files of the driver of a GPU that the cell does not see anyway. */
export const gpuInside = '/run/workcell-gpu';

/** The terminal that the cell starts with; it serves one program, directly. */
export const terminalInside = '/dev/console';

/** What every process in a cell starts with: nothing of the caller's own environment. */
export const cellEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: cellUser.home,
  USER: cellUser.name,
  LOGNAME: cellUser.name,
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  // A program that pages its output would wait for a person who is not there.
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
};
