/** Works in a cell whose server runs elsewhere. The server has another owner, so closing does not stop it. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readTrusted } from '../base/trusted-path.js';
import { urlWithoutSecrets } from '../base/url-without-secrets.js';
import { actionsWith } from '../cell/plugins/plugin-host.js';
import { WorkcellError } from '../protocol/index.js';
import type { Place } from '../runtime/client/connect-ways.js';
import { connectExecutor, type HttpExecutor } from '../runtime/client/http-executor.js';
import { defineBackend } from './backend.js';

/** All the certificates that a system trusts take a quarter of a mebibyte. */
const longestFile = 4 * 1024 * 1024;

export default defineBackend({
  type: 'remote',
  options: {
    /** Address of the server: `http://…`, `https://…`, or `unix:` and the path of a socket. */
    url: z.string().min(1),
    token: z.string().min(1).optional(),
    /** A file that holds the token. */
    tokenFile: z.string().min(1).optional(),
    /**
     * A file with the certificates, as PEM, that must have signed the server's own. Default: those of this machine.
     */
    ca: z.string().min(1).optional(),
    /** The server has its workspace already, so you cannot name one here. */
    workspace: z.undefined('is chosen where the server is started').optional(),
    /** What to do at close with the shells and processes that this client started. Leaves those of others alone. */
    onClose: z.enum(['end', 'leave']).default('end'),
  },

  place: ['url', 'token', 'tokenFile', 'ca'],
  secrets: ['token'],
  sharesWorkspace: true,

  async probe({ url }) {
    const tier = 'none' as const;
    if (url !== undefined)
      return {
        available: true,
        tier,
        summary: `Connects to the server at ${urlWithoutSecrets(url)}; what that enforces shows when it is reached.`,
        advice: [],
      };
    return {
      available: false,
      tier,
      summary: 'No server is named: give url, and tokenFile.',
      advice: ['Start one with: workcell executor --listen tcp:127.0.0.1:8700 --token-file <file>'],
    };
  },

  async start({ url, token, tokenFile, ca, onClose }, { id, signal, plugins = [] }) {
    const secret = token ?? (tokenFile === undefined ? undefined : readSecret(tokenFile, 'token'));
    const { executor, info } = await connectExecutor(placeOf(url, ca), {
      token: secret,
      client: randomUUID(),
      signal,
      actions: actionsWith(plugins),
    }).catch((error: unknown) => {
      throw isUnauthorized(error) ? wrongToken(url, secret) : error;
    });
    try {
      await checkReady(executor, url);
    } catch (error) {
      await executor.disconnect();
      throw error;
    }
    return {
      id,
      backend: 'remote',
      executor,
      isolation: info.isolation,
      workspace: info.workspace,
      lost: executor.lost,
      stop: () => (onClose === 'end' ? executor.close() : executor.disconnect()),
    };
  },
});

function placeOf(url: string, ca: string | undefined): Place {
  if (url.startsWith('unix:')) return { socketPath: url.slice('unix:'.length) };
  return { url, ca: ca === undefined ? undefined : readSecret(ca, 'certificate') };
}

async function checkReady(executor: HttpExecutor, url: string): Promise<void> {
  const { ready, capabilities } = await executor.readiness();
  if (ready) return;
  const reasons = capabilities
    .filter(({ state }) => state !== 'ready')
    .map(({ name, reason }) => `${name}: ${reason ?? 'no reason given'}`);
  const shown = urlWithoutSecrets(url);
  throw new WorkcellError(
    'backend-unavailable',
    `The server at ${shown} is not ready. ${reasons.join(' ')}`,
    {
      details: { url: shown, capabilities },
    },
  );
}

function isUnauthorized(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'unauthorized';
}

function wrongToken(url: string, given: string | undefined): WorkcellError {
  const shown = urlWithoutSecrets(url);
  return new WorkcellError(
    'unauthorized',
    `The server at ${shown} ${given === undefined ? 'wants a token' : 'does not take this token'}. Give the token of the server (tokenFile, or --token-file <file>).`,
    { details: { url: shown } },
  );
}

function readSecret(file: string, what: string): string {
  try {
    return readTrusted(file, { maxBytes: longestFile }).text.trim();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('invalid-config', `Workcell cannot read the ${what} file ${file}: ${reason}.`, {
      details: { file },
      cause,
    });
  }
}
