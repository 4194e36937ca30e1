/** Everything that `runtime.git` does, in one module that loads on first use. */
export { findBlame } from './blame.js';
export { checkOut, findBranch, findBranches, workBranchName } from './branches.js';
export { makeCommit } from './commit.js';
export { findFileDiff } from './file-diff.js';
export { findChanges } from './git-changes.js';
export { findCommitChanges, findCommits } from './git-log.js';
export { findStatus } from './git-status.js';
export { initialize } from './init.js';
export { findPatch } from './patch.js';
export { clone, fetchFrom, findRemoteUrl, pull, push } from './remotes.js';
export { setUpOnce } from './setup.js';
export { addWorktree, findWorktrees, removeWorktree } from './worktrees.js';
