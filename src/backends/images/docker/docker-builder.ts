/** Images of a Docker Engine, built by the engine itself. */

import { WorkcellError } from '../../../protocol/index.js';
import { type Engine, engineTrouble, isGone, openEngine, refusalOf } from '../../engines/docker-engine.js';
import { createBuilder, type FoundBase, type ImageBuilder, type ImageService } from '../builder.js';
import { buildInEngine } from './build.js';
import { pullImage } from './pull.js';

/** Which engine holds and builds the images. */
export interface DockerImagesOptions {
  /** Where the engine is, in the form of DOCKER_HOST. Default: that variable, or this machine's own. */
  readonly engine?: string | undefined;
}

/** Builds images with a Docker Engine. */
export function dockerBuilder(options: DockerImagesOptions = {}): ImageBuilder {
  return createBuilder(dockerImages(options));
}

function dockerImages(options: DockerImagesOptions): ImageService {
  async function find(name: string): Promise<FoundBase | undefined> {
    const engine = await openEngine(options.engine);
    try {
      const { Id: id, Config } = await engine.docker.getImage(name).inspect();
      return { id, reference: id, user: checkUser(name, Config.User) };
    } catch (error) {
      if (isGone(error)) return undefined;
      throw explain(engine, error);
    }
  }

  return {
    async findBase(name, job) {
      const found = await find(name);
      if (found !== undefined) return found;
      await pullImage(await openEngine(options.engine), name, job);
      const pulled = await find(name);
      if (pulled !== undefined) return pulled;
      throw new WorkcellError('image-missing', `The engine has no image "${name}" although it was pulled.`);
    },
    exists: async (image) => (await find(image)) !== undefined,
    async tag(image, names) {
      const { docker } = await openEngine(options.engine);
      for (const name of names) {
        const [, repo = name, tag = 'latest'] = /^(.*):([^:/]+)$/.exec(name) ?? [];
        await docker.getImage(image).tag({ repo, tag });
      }
    },
    async build(job) {
      const engine = await openEngine(options.engine);
      try {
        await buildInEngine(engine.docker, job);
      } catch (error) {
        if (job.signal?.aborted)
          throw new WorkcellError('cancelled', 'The build of the image was cancelled.', { cause: error });
        throw explain(engine, error);
      }
    },
  };
}

function explain(engine: Engine, error: unknown): Error {
  if (WorkcellError.isInstance(error)) return error;
  const { reason } = refusalOf(error);
  return (
    engineTrouble(engine, error) ??
    new WorkcellError('build-failed', `The engine refused: ${reason}.`, { details: { reason }, cause: error })
  );
}

/** An image can contain anything, and this goes into a Dockerfile. */
function checkUser(image: string, user: string): string {
  if (/^[\w.:-]*$/.test(user)) return user;
  throw new WorkcellError(
    'image-unsuitable',
    `The image "${image}" is set to run as ${JSON.stringify(user)}, which is no user. Use another base.`,
    { details: { image } },
  );
}
