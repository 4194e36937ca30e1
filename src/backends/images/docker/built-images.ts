/** Lists the images that we built here, and removes unused ones. */
import { type Engine, engineTrouble, openEngine, refusalOf } from '../../engines/docker-engine.js';
import { baseLabel, partLabel } from '../builder.js';
import type { DockerImagesOptions } from './docker-builder.js';

/** An image that a build made. */
export interface BuiltImage {
  readonly id: string;
  /** Empty for the remains of a failed build. */
  readonly tags: readonly string[];
  readonly part: string;
  readonly base: string;
  readonly createdAt: Date;
  readonly sizeBytes: number;
  /** A container uses it, running or not. */
  readonly inUse: boolean;
}

/** What `pruneImages` removed and kept. */
export interface Pruned {
  readonly removed: readonly BuiltImage[];
  /** Images in use, and images below others. */
  readonly kept: readonly BuiltImage[];
  /** Disk space that the engine gained. */
  readonly freedBytes: number;
}

/** Lists the images that builds made on this engine. */
export function listImages(options: DockerImagesOptions = {}): Promise<BuiltImage[]> {
  return asking(options, async ({ docker }) => {
    const [images, containers] = await Promise.all([
      docker.listImages({ filters: { label: [partLabel] } }),
      docker.listContainers({ all: true }),
    ]);
    const used = new Set(containers.map(({ ImageID }) => ImageID));
    return images.map((image) => ({
      id: image.Id,
      tags: (image.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>').sort(),
      part: image.Labels?.[partLabel] ?? '',
      base: image.Labels?.[baseLabel] ?? '',
      createdAt: new Date(image.Created * 1000),
      sizeBytes: image.Size,
      inUse: used.has(image.Id),
    }));
  });
}

/** Which images `pruneImages` may remove. */
export interface PruneOptions extends DockerImagesOptions {
  /** Only images with a name in this repository. Default: all. */
  readonly repository?: string | undefined;
}

/** Removes every unused image that we built here. */
export function pruneImages(options: PruneOptions = {}): Promise<Pruned> {
  const { repository } = options;
  return asking(options, async (engine) => {
    const images = (await listImages(options)).filter(
      ({ tags }) => repository === undefined || tags.some((tag) => tag.startsWith(`${repository}:`)),
    );
    const before = await layerBytes(engine);
    const removed: BuiltImage[] = [];
    // Images with an executor stand on those without, and an image below others cannot go before them.
    const order = [...images].sort((one, other) => Number(isBelow(one)) - Number(isBelow(other)));
    for (const image of order) {
      if (image.inUse) continue;
      try {
        for (const name of image.tags.length > 0 ? image.tags : [image.id])
          await engine.docker.getImage(name).remove();
        removed.push(image);
      } catch (error) {
        // Something has started to use it since: a container or another image. Or it no longer exists.
        const { status } = refusalOf(error);
        if (status === 404) removed.push(image);
        else if (status !== 409) throw error;
      }
    }
    const kept = images.filter((image) => !removed.includes(image));
    return { removed, kept, freedBytes: Math.max(0, before - (await layerBytes(engine))) };
  });
}

function isBelow(image: BuiltImage): boolean {
  return image.part === 'dependencies';
}

async function layerBytes({ docker }: Engine): Promise<number> {
  return (await docker.df()).LayersSize ?? 0;
}

async function asking<Answer>(
  options: DockerImagesOptions,
  ask: (engine: Engine) => Promise<Answer>,
): Promise<Answer> {
  const engine = await openEngine(options.engine);
  try {
    return await ask(engine);
  } catch (error) {
    throw engineTrouble(engine, error) ?? error;
  }
}
