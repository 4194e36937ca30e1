/** Sandboxes as the control API describes them. */
import { availableParallelism, totalmem } from 'node:os';
import { envdVersion, type Sandbox } from '../e2b-sandbox.js';

const mebibyte = 1024 * 1024;

/** The answer to a client that creates, connects to or forks one. */
export function openedView({ record: { id }, facts, accessToken, trafficToken }: Sandbox): object {
  return {
    sandboxID: id,
    templateID: facts.template,
    clientID: id,
    envdVersion,
    ...(accessToken !== undefined && { envdAccessToken: accessToken }),
    ...(trafficToken !== undefined && { trafficAccessToken: trafficToken }),
  };
}

export function listedView({ record, facts }: Sandbox): object {
  return {
    sandboxID: record.id,
    templateID: facts.template,
    alias: facts.template,
    clientID: record.id,
    startedAt: new Date(record.createdAt).toISOString(),
    endAt: new Date(record.expiresAt ?? record.createdAt).toISOString(),
    state: record.state === 'paused' ? 'paused' : 'running',
    cpuCount: availableParallelism(),
    memoryMB: Math.floor(totalmem() / mebibyte),
    diskSizeMB: 0,
    envdVersion,
    metadata: facts.metadata,
  };
}

/** `mayUse`: who asks may change the sandbox. Its token is for them only. */
export function detailView(sandbox: Sandbox, mayUse: boolean): object {
  const { accessToken, facts } = sandbox;
  const { allowInternetAccess, network, autoPause, autoResume } = facts;
  return {
    ...listedView(sandbox),
    ...(mayUse && accessToken !== undefined && { envdAccessToken: accessToken }),
    ...(allowInternetAccess !== undefined && { allowInternetAccess }),
    ...(network !== undefined && { network }),
    lifecycle: { onTimeout: autoPause ? 'pause' : 'kill', autoResume },
  };
}
