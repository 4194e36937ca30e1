/**
 * The docker backend for work with Python: an image with the packages, and a Python that it finds or installs and
 * presets.
 */
import { z } from 'zod';
import { type Cell, WorkcellError } from '../protocol/index.js';
import { defineBackend, type StartContext } from './backend.js';
import { attachContainer, containerStats, listContainers } from './docker/attach-container.js';
import { dockerOptions } from './docker/docker-options.js';
import { backendLabel } from './docker/labels.js';
import { startDocker } from './docker/start-docker.js';
import docker from './docker.js';
import { dockerBuilder } from './images/docker/docker-builder.js';
import { pythonHome } from './images/install-steps.js';
import { checkVersion, findPython, presetPython } from './ubuntu-docker/find-python.js';
import { isDemand } from './ubuntu-docker/version-demand.js';

const options = {
  ...dockerOptions,
  image: z.string().min(1).default('ubuntu:24.04'),
  /** Packages of the image's own distribution. */
  systemPackages: z.array(z.string()).default([]),
  /** Requirements for pip, such as `requests>=2`. */
  pythonPackages: z.array(z.string()).default([]),
  /** The demanded version of Python, such as `>=3.10` or `>=3.10,<3.13`. */
  pythonVersion: z.string().refine(isDemand, 'must be a demand such as >=3.10').default('>=3.8'),
  /** The Python to use. Default: `python3`; installed if the image has none. */
  pythonPath: z.string().min(1).optional(),
  /** The network for fetching packages during the build of the image. Default: the engine's own. */
  buildNetwork: z.string().min(1).optional(),
};

type Options = z.output<z.ZodObject<typeof options>>;

export default defineBackend({
  type: 'ubuntu-docker',
  options,
  probe: () => docker.probe(),
  start,
  place: ['engine'],
  attach: (id, place, context) => attachContainer('ubuntu-docker', id, place, context),
  list: (place) => listContainers('ubuntu-docker', place),
  stats: (id, place, context) => containerStats('ubuntu-docker', id, place, context),
});

/** Images without Python, as found earlier. */
const withoutPython = new Set<string>();

async function start(given: Options, context: StartContext): Promise<Cell> {
  const { image, pythonPath } = given;
  if (pythonPath !== undefined || !withoutPython.has(image)) {
    const cell = await startWith(given, context, []);
    if (cell !== undefined) return cell;
  }
  if (pythonPath !== undefined) {
    throw new WorkcellError(
      'image-unsuitable',
      `The image "${image}" has no Python at ${pythonPath}. Leave out pythonPath, and Workcell finds or installs one.`,
      { details: { image, pythonPath } },
    );
  }
  withoutPython.add(image);
  const cell = await startWith(given, context, ['python3']);
  if (cell !== undefined) return cell;
  throw new WorkcellError('image-unsuitable', `Python does not start in the image "${image}".`, {
    details: { image },
  });
}

/** Users who asked for no packages do not expect a build, so the error explains it. */
function notInstalled(image: string, error: unknown): unknown {
  if (!WorkcellError.isInstance(error) || !installFailures.has(error.code)) return error;
  return new WorkcellError(
    error.code,
    `The image "${image}" has no Python, and Workcell could not install one: ${error.message}\nUse an image that has one, or name a network for fetching packages as buildNetwork.`,
    { details: { image }, cause: error },
  );
}

const installFailures: ReadonlySet<string> = new Set(['build-failed', 'image-unsuitable']);

/** Undefined when the image has no Python. `further`: packages that the caller did not ask for. */
async function startWith(
  given: Options,
  context: StartContext,
  further: readonly string[],
): Promise<Cell | undefined> {
  const { systemPackages, pythonPackages, pythonVersion, pythonPath, buildNetwork, ...own } = given;
  const image = await prepareImage(given, [...systemPackages, ...further], context).catch(
    (error: unknown) => {
      throw further.length > 0 ? notInstalled(given.image, error) : error;
    },
  );
  const cell = await startDocker(
    { ...own, image, labels: { ...own.labels, [backendLabel]: 'ubuntu-docker' } },
    context,
  );
  try {
    const installed = pythonPackages.length > 0 ? `${pythonHome}/bin/python3` : 'python3';
    const python = await findPython(cell.executor, pythonPath ?? installed);
    if (python === undefined) {
      await cell.stop();
      return undefined;
    }
    checkVersion(given.image, python, pythonVersion);
    await presetPython(cell.executor, python, given.env);
    return { ...cell, backend: 'ubuntu-docker' };
  } catch (error) {
    await cell.stop();
    throw error;
  }
}

/** The image with the packages in a separate layer, built once. */
async function prepareImage(
  { image, platform, pythonPackages, engine, buildNetwork }: Options,
  systemPackages: readonly string[],
  { signal, onStatus }: StartContext,
): Promise<string> {
  if (systemPackages.length === 0 && pythonPackages.length === 0) return image;
  const { name } = await dockerBuilder({ engine }).build(
    {
      base: image,
      systemPackages: [...systemPackages],
      pythonPackages,
      executor: false,
      ...(platform !== undefined && { platform }),
    },
    {
      signal,
      network: buildNetwork,
      onProgress: ({ message }) => onStatus({ status: 'BUILDING_RUNTIME', level: 'info', message }),
    },
  );
  return name;
}
