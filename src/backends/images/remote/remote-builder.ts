/** Images of a remote service that builds them: the image half of the OpenHands runtime API. */

import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import { packContext } from '../build-context.js';
import { type BuildJob, createBuilder, type ImageBuilder, type ImageService } from '../builder.js';
import { openService, type Service } from './build-service.js';

/** Where the service that builds is, and how long to wait for it. */
export interface RemoteBuilderOptions {
  /** Such as `https://runtime.example.com`. */
  readonly url: string;
  /** Sent as `X-API-Key`. */
  readonly apiKey: string;
  /** How often to ask the service about a build; it sends no events. Default: 5 s. */
  readonly statusIntervalMs?: number | undefined;
  /** How long one build may take. Default: 30 min. */
  readonly timeoutMs?: number | undefined;
}

const prefixSchema = z.object({ registry_prefix: z.string().regex(/^[\w.:/-]{1,200}$/) });
const existsSchema = z.object({ exists: z.boolean() });
const startedSchema = z.object({ build_id: z.string().min(1) });
const statusSchema = z.object({ status: z.string(), error: z.string().nullish() });

const failures = new Set(['FAILURE', 'INTERNAL_ERROR', 'TIMEOUT', 'CANCELLED', 'EXPIRED']);

/** Builds images with a remote service that speaks the image API of the OpenHands runtime. */
export function remoteBuilder(options: RemoteBuilderOptions): ImageBuilder {
  return createBuilder(remoteImages(openService(options), options));
}

function remoteImages(service: Service, options: RemoteBuilderOptions): ImageService {
  const { statusIntervalMs = 5000, timeoutMs = 1_800_000 } = options;
  let prefix: Promise<string> | undefined;
  return {
    repositoryFor(repository, signal) {
      prefix ??= service
        .get('/registry_prefix', prefixSchema, signal)
        .then((answer) => answer.registry_prefix);
      prefix.catch(() => {
        prefix = undefined;
      });
      return prefix.then((text) => `${text.replace(/\/+$/, '')}/${repository}`);
    },
    // The service fetches it, and says neither what it is nor which user it has set.
    findBase: (name) => Promise.resolve({ id: name, reference: name, user: '' }),
    async exists(image, signal) {
      return (await service.get(`/image_exists?image=${encodeURIComponent(image)}`, existsSchema, signal))
        .exists;
    },
    async build(job) {
      refuseWhatCannotBeAsked(job);
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = job.signal === undefined ? limit : AbortSignal.any([job.signal, limit]);
      try {
        await buildRemotely(service, job, statusIntervalMs, signal);
      } catch (error) {
        if (job.signal?.aborted)
          throw new WorkcellError('cancelled', 'The build of the image was cancelled.', { cause: error });
        if (!limit.aborted) throw error;
        throw new WorkcellError('timed-out', `The service did not build the image within ${timeoutMs} ms.`, {
          cause: error,
        });
      }
    },
  };
}

async function buildRemotely(
  service: Service,
  job: BuildJob,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const form = new FormData();
  const context = await buffer(packContext(job.dockerfile, job.files).pipe(createGzip({ level: 1 })));
  form.append('context', context.toString('base64'));
  form.append('target_image', job.tags[0] ?? '');
  for (const tag of job.tags.slice(1)) form.append('tags', tag);
  const { build_id: id } = await service.post('/build', form, startedSchema, { signal, busyMs: intervalMs });
  const path = `/build_status?build_id=${encodeURIComponent(id)}`;
  for (let last = ''; ; ) {
    const { status, error } = await service.get(path, statusSchema, signal);
    if (status !== last) job.onProgress(status);
    last = status;
    if (status === 'SUCCESS') return;
    if (failures.has(status)) {
      const reason = error?.slice(0, 2000) ?? status;
      throw new WorkcellError('build-failed', `The service could not build the image: ${reason}.`, {
        details: { status, buildId: id },
      });
    }
    await pause(intervalMs, undefined, { signal });
  }
}

/** The API has no place for these, and leaving them out silently would build something else. */
function refuseWhatCannotBeAsked({ variables, network, platform }: BuildJob): void {
  const asked = {
    variables: Object.keys(variables).length > 0,
    network: network !== undefined,
    platform: platform !== undefined,
  };
  const refused = Object.entries(asked).flatMap(([name, given]) => (given ? [name] : []));
  if (refused.length === 0) return;
  throw new WorkcellError(
    'capability-unsupported',
    `A remote service cannot build with ${refused.join(' or ')}. Leave it out, or build with a Docker Engine.`,
    { details: { refused } },
  );
}
