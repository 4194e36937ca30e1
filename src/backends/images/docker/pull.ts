import { WorkcellError } from '../../../protocol/index.js';
import { type Engine, engineTrouble, refusalOf } from '../../engines/docker-engine.js';
import type { BuildJob } from '../builder.js';
import { readMessages } from './engine-messages.js';

/** Fetches an image from the registry in its name. */
export async function pullImage(
  engine: Engine,
  name: string,
  job: Pick<BuildJob, 'platform' | 'onProgress' | 'signal'>,
): Promise<void> {
  const { platform, signal, onProgress } = job;
  // Without a tag the engine would fetch all of them.
  const image = /:[^/]+$|@/.test(name) ? name : `${name}:latest`;
  try {
    const stream = await engine.docker.pull(image, { platform, signal });
    for await (const { status, id, error } of readMessages(stream)) {
      if (error !== undefined) throw new Error(error);
      if (status !== undefined) onProgress(id === undefined ? status : `${id}: ${status}`);
    }
  } catch (error) {
    if (signal?.aborted)
      throw new WorkcellError('cancelled', `Pulling ${image} was cancelled.`, { cause: error });
    const { status, code, reason } = refusalOf(error);
    const trouble = status === undefined && code !== undefined ? engineTrouble(engine, error) : undefined;
    throw (
      trouble ??
      new WorkcellError(
        'image-missing',
        `The engine has no image "${name}" and cannot pull it: ${reason}. Check the name, pull it by hand (docker pull ${image}), or build it.`,
        { details: { image: name, reason }, cause: error },
      )
    );
  }
}
