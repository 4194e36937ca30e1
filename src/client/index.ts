/** `workcell/client`: what a program needs to use a service. */
export type {
  CellDiff,
  CheckpointCell,
  CheckpointPage,
  ForkCell,
  ForkedCells,
  RewindCell,
  RewoundCell,
  ServiceCheckpoint,
} from '../protocol/checkpoint-wire.js';
export { WorkcellError } from '../protocol/errors.js';
export type {
  CellNews,
  CellNotice,
  CellPage,
  ChangeCell,
  CreateCell,
  CreateKey,
  CreatePreview,
  KeyPage,
  NewKey,
  Preview,
  ServiceCell,
  ServiceKey,
  ServiceStatus,
  ServiceTemplateInfo,
  ServiceUsage,
} from '../protocol/service-wire.js';
export { type ListOptions, ServiceClient, type ServiceClientOptions } from './service-client.js';
