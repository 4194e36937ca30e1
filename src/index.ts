export { type AttachRuntimeOptions, attachRuntime } from './attach-runtime.js';
export type { CellInfo, CellRef } from './backends/backend.js';
export type { BackendConfig, BackendName } from './backends/index.js';
export type { WorkspaceOption } from './backends/workspace-modes.js';
export type { CodeOutput } from './cell/plugins/jupyter/jupyter-actions.js';
export { type ListCellsOptions, listCells } from './cells.js';
export type { CreateRuntimeOptions } from './create-runtime.js';
export { createRuntime } from './create-runtime.js';
export type {
  Action,
  ActionInput,
  ActionName,
  Display,
  Downloaded,
  ErrorCode,
  Fact,
  FactCode,
  FileChange,
  FileEntry,
  GrepMatch,
  Isolation,
  IsolationTier,
  MinIsolation,
  NetworkAnswer,
  NetworkAsker,
  NetworkEvent,
  NetworkOption,
  NetworkQuestion,
  NetworkRules,
  NetworkStats,
  Observation,
  ProcessInfo,
  RuntimeStatus,
  StatusUpdate,
  Terminal,
  TerminalOptions,
  WorkcellEvent,
} from './protocol/index.js';
export { WorkcellError } from './protocol/index.js';
export { attemptWith, type Best, type BestOfOptions, bestOf } from './runtime/best-of.js';
export type {
  ApplyOptions,
  Checkpoint,
  CheckpointOptions,
  ForkOptions,
  RewindOptions,
  Rewound,
  TakenOver,
  TakeOverOptions,
  WorkspaceState,
} from './runtime/checkpoints/checkpoint-types.js';
export type { Conflict } from './runtime/checkpoints/plan-changes.js';
export type { WorkspaceChange } from './runtime/checkpoints/show-changes.js';
export { type DriveOptions, driveRuntime, type RuntimeDriver } from './runtime/events/drive.js';
export type { EventFilter, EventStore, StoredRuntime } from './runtime/events/event-store.js';
export { openEventStore } from './runtime/events/open.js';
export type { GitBlameLine } from './runtime/git/blame.js';
export type { GitBranch } from './runtime/git/branches.js';
export type { FileDiff } from './runtime/git/file-diff.js';
export type { GitChange } from './runtime/git/git-changes.js';
export type { GitCommit } from './runtime/git/git-log.js';
export type { GitStatus } from './runtime/git/git-status.js';
export type { GitPatch } from './runtime/git/patch.js';
export type { RuntimeGit } from './runtime/git/runtime-git.js';
export type { GitWorktree } from './runtime/git/worktrees.js';
export type { LoadedMicroagents } from './runtime/microagents/loaded.js';
export type { Microagent } from './runtime/microagents/microagent.js';
export type { RuntimeMicroagents } from './runtime/microagents/microagents.js';
export type { RunOptions, Runtime } from './runtime/runtime.js';
export type { Logger } from './runtime/runtime-log.js';
export type { RuntimeNetwork } from './runtime/runtime-network.js';
export type { ForwardedPort } from './runtime/runtime-ports.js';
export type {
  FunctionTool,
  ToolContext,
  ToolDefinition,
  ToolRuntime,
} from './runtime/tools/function-tool.js';
export { tool } from './runtime/tools/function-tool.js';
export { loadTools } from './runtime/tools/load-tools.js';
export type { OpenaiTool } from './runtime/tools/openai.js';
export { openaiTool } from './runtime/tools/openai.js';
export { agentSkills, pythonTools } from './runtime/tools/python/python-tools.js';
export type { RunCodeOptions } from './runtime/verbs/jupyter-verbs.js';
