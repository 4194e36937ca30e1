/** All that `runtime.git` does, in one place that is loaded when it is first used. */
export { findBlame } from './blame.js';
export { checkOut, findBranch, findBranches, workBranchName } from './branches.js';
export { findChanges } from './changes.js';
export { makeCommit } from './commit.js';
export { findFileDiff } from './file-diff.js';
export { initialize } from './init.js';
export { findCommitChanges, findCommits } from './log.js';
export { findPatch } from './patch.js';
export { clone, fetchFrom, findRemoteUrl, pull, push } from './remotes.js';
export { setUpOnce } from './setup.js';
export { findStatus } from './status.js';
export { addWorktree, findWorktrees, removeWorktree } from './worktrees.js';
