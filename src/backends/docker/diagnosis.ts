/** Why a container did not start, in our words, with what to do. */

import { WorkcellError } from '../../protocol/index.js';
import { type Engine, engineTrouble, refusalOf } from '../engines/docker-engine.js';
import { checkSuitable } from '../images/docker/check-suitable.js';
import type { DockerOptions } from './docker-options.js';

export async function explainStart(
  engine: Engine,
  options: DockerOptions,
  error: unknown,
): Promise<WorkcellError> {
  const explained = explain(engine, options, error);
  const ofImage = explained.code === 'image-unsuitable' || explained.code === 'backend-unavailable';
  return (ofImage && (await findUnsuitable(engine, options, explained))) || explained;
}

/** What the image lacks, where that is the reason for the silence. */
async function findUnsuitable(
  { docker }: Engine,
  { image }: DockerOptions,
  { details, cause }: WorkcellError,
): Promise<WorkcellError | undefined> {
  try {
    await checkSuitable(docker, image);
  } catch (error) {
    if (WorkcellError.isInstance(error)) return error;
  }
  const log = (details as { log?: readonly string[] } | undefined)?.log ?? [];
  if (!log.some((line) => /^setpriv: /.test(line))) return undefined;
  return new WorkcellError('image-unsuitable', withoutSetpriv(image), { details: { log: [...log] }, cause });
}

function withoutSetpriv(image: string): string {
  return `The image "${image}" lacks the program setpriv of util-linux, which lets commands run as another user. Install util-linux there (Alpine: apk add util-linux), or name another image.`;
}

function explain(engine: Engine, options: DockerOptions, error: unknown): WorkcellError {
  if (WorkcellError.isInstance(error)) return error;
  const trouble = engineTrouble(engine, error);
  if (trouble !== undefined) return trouble;
  const { reason } = refusalOf(error);
  const found = causes.find(({ pattern }) => pattern.test(reason));
  if (found === undefined) {
    return new WorkcellError('backend-unavailable', `The engine refused to start the container: ${reason}.`, {
      details: { image: options.image, reason },
      cause: error,
    });
  }
  return new WorkcellError(found.code, found.explain(options, reason), { details: { reason }, cause: error });
}

interface Cause {
  readonly pattern: RegExp;
  readonly code:
    | 'image-missing'
    | 'image-unsuitable'
    | 'invalid-config'
    | 'already-exists'
    | 'port-taken'
    | 'not-found';
  explain(options: DockerOptions, reason: string): string;
}

const causes: readonly Cause[] = [
  {
    pattern: /invalid reference format/i,
    code: 'invalid-config',
    explain: ({ image }, reason) =>
      `"${image}" is not the name of an image: ${reason}. Write one such as debian:bookworm.`,
  },
  {
    pattern: /no such image|manifest (for .* )?(unknown|not found)|pull access denied/i,
    code: 'image-missing',
    explain: ({ image }) =>
      `The engine has no image "${image}". Pull it (docker pull ${image}) or name another one.`,
  },
  {
    pattern: /"setpriv": executable file not found/,
    code: 'image-unsuitable',
    explain: ({ image }) => withoutSetpriv(image),
  },
  {
    pattern: /port is already allocated|address already in use/i,
    code: 'port-taken',
    explain: ({ ports }) =>
      `A port that was asked for (${ports.map(({ host }) => host).join(', ')}) is taken on this machine. Choose another one, or 0 for any that is free.`,
  },
  {
    pattern: /unknown( or invalid)? runtime|runtime .* not (found|registered)/i,
    code: 'invalid-config',
    explain: ({ ociRuntime }) =>
      `The engine knows no OCI runtime "${ociRuntime}". Register it in the engine's daemon.json; docker info lists those it has.`,
  },
  {
    pattern: /could not select device driver|nvidia-(?:container|ctk)|nvidia\.com\/gpu|\bcdi device/i,
    code: 'invalid-config',
    explain: (_, reason) =>
      `No GPU can be given to the cell: ${reason}. Install the NVIDIA Container Toolkit on the engine's machine (docker run --gpus all must work there), or leave gpu out.`,
  },
  {
    pattern:
      /bind source path does not exist|invalid mount|invalid volume|error mounting|mount.*(failed|denied)|includes invalid characters/i,
    code: 'invalid-config',
    explain: (_, reason) =>
      `A volume cannot be mounted: ${reason}. Check its paths; the engine must see them too.`,
  },
  {
    pattern: /network .* not found|no such network/i,
    code: 'not-found',
    explain: ({ network, networks }) =>
      `The engine has no network of that name (${[network, ...networks].join(', ')}). Make it with docker network create.`,
  },
  {
    pattern: /container name .* is already in use/i,
    code: 'already-exists',
    explain: ({ name }) => `A container named "${name}" exists already. Remove it, or choose another name.`,
  },
  {
    pattern: /platform|exec format error|unknown operating system or architecture/i,
    code: 'invalid-config',
    explain: ({ image, platform }, reason) =>
      `The image "${image}" cannot run on ${platform ?? 'this platform'} here: ${reason}. Name an image for it, or leave platform out.`,
  },
];
