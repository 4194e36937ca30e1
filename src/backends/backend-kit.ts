/** What you write a backend with: `workcell/backends`. */
export type { Cell, Fact, FactCode, Isolation, IsolationTier } from '../protocol/index.js';
export { WorkcellError } from '../protocol/index.js';
export type { Connect } from '../runtime/client/connect-ways.js';
export { openTunnel, type Tunnel } from '../runtime/client/tunnel.js';
export {
  type Backend,
  type BackendDefinition,
  type CellInfo,
  type CellRef,
  defineBackend,
  type FoundCell,
  type Probe,
  type StartContext,
  type StatsContext,
} from './backend.js';
export {
  type ExecutorPlace,
  type ExecutorSettings,
  type ExecutorStart,
  executorCommand,
  newToken,
  type ReachOptions,
  reachExecutor,
  type StartedExecutor,
  startExecutor,
} from './executor-program.js';
export type { OutsideBackends } from './index.js';
export { type Lease, leaseHolder, takeLease } from './lease.js';
export { type Pausable, pausable } from './pausable.js';
export { type ServedCell, servedCell } from './served-cell.js';
export { type ShippedPlugins, shipPlugins } from './shipped-plugins.js';
export { openWorkspace, type Workspace } from './workspace.js';
