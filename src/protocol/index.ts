export type { ActionDefinition, ActionTable, KindsOf, Offered, PluginActions } from './action.js';
export { defineAction } from './action.js';
export type { Encoding, EndedBy } from './actions/common.js';
export type { EditStep } from './actions/edit.js';
export type { FileEntry } from './actions/files.js';
export type { Action, ActionInput, ActionName, CoreActionName, Observation } from './actions/index.js';
export { actionNames, actions } from './actions/index.js';
export type { ProcessInfo } from './actions/processes.js';
export { defaultSession } from './actions/run.js';
export type { GrepMatch } from './actions/search.js';
export type {
  Cell,
  CellNetwork,
  NetworkAnswer,
  NetworkAsker,
  NetworkQuestion,
  NetworkSecret,
  NetworkStats,
  PoolStats,
  PublishedPort,
} from './cell.js';
export type { Carried } from './describe.js';
export { describeAction, withoutSecrets } from './describe.js';
export { errorSchema } from './error-body.js';
export type { ErrorBody, ErrorCode } from './errors.js';
export { errorCodes, errorTable, WorkcellError } from './errors.js';
export type { CheckpointRecord, Decision, EventSource, WorkcellEvent } from './events.js';
export { eventSchema } from './events.js';
export type {
  ArchiveFormat,
  Capability,
  Downloaded,
  DownloadOptions,
  ExecuteContext,
  Executor,
  Terminal,
  TerminalOptions,
  Uploaded,
  UploadOptions,
} from './executor.js';
export type { Fact, FactCode } from './facts.js';
export { describeFact, factCodes } from './facts.js';
export type { Demand, Isolation, IsolationTier, MinIsolation } from './isolation.js';
export { findFact, isAtLeast, isEnforced, isolationSchema, isolationTiers, shortfall } from './isolation.js';
export type { FieldKind, FieldKinds } from './kinds.js';
export type {
  FullNetworkRules,
  NetworkEvent,
  NetworkOption,
  NetworkRecord,
  NetworkRules,
} from './network/network-schema.js';
export { networkRulesSchema } from './network/network-schema.js';
export { describeIssues, parseAction, parseObservation } from './parse.js';
export type { Display, FileChange, OutputDelta, Progress } from './progress.js';
export { progressSchema } from './progress.js';
export type { RuntimeVerbs } from './runtime-verbs.js';
export type { RuntimeStatus, StatusUpdate } from './status.js';
export { runtimeStatuses, statusSchema } from './status.js';
export { verbs } from './verbs.js';
export { protocolVersion } from './version.js';
