/** Sandboxes as the control API describes them. */
import { availableParallelism, totalmem } from 'node:os';
import { envdVersion, type Sandbox, type SandboxTokens } from '../e2b-sandbox.js';

const mebibyte = 1024 * 1024;

/** The answer to a client that creates, connects to or forks one. */
export function openedView({ record: { id }, facts }: Sandbox, { access, traffic }: SandboxTokens): object {
  return {
    sandboxID: id,
    templateID: facts.template,
    clientID: id,
    envdVersion,
    ...(facts.secure && { envdAccessToken: access }),
    ...(facts.private && { trafficAccessToken: traffic }),
  };
}

/** Of this machine, which no template divides. */
export function sizesHere(): { cpuCount: number; memoryMB: number; diskSizeMB: number } {
  return {
    cpuCount: availableParallelism(),
    memoryMB: Math.floor(totalmem() / mebibyte),
    diskSizeMB: 0,
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
    ...sizesHere(),
    envdVersion,
    metadata: facts.metadata,
  };
}

/** `tokens`: of who asks, if they may change the sandbox. */
export function detailView(sandbox: Sandbox, tokens: SandboxTokens | undefined): object {
  const { allowInternetAccess, network, autoPause, autoResume, secure } = sandbox.facts;
  return {
    ...listedView(sandbox),
    ...(secure && tokens !== undefined && { envdAccessToken: tokens.access }),
    ...(allowInternetAccess !== undefined && { allowInternetAccess }),
    ...(network !== undefined && { network }),
    lifecycle: { onTimeout: autoPause ? 'pause' : 'kill', autoResume },
  };
}
