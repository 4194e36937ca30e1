/** Builds runtime images: which exist already, which part to rebuild, and their names. */
import { createHash } from 'node:crypto';
import { packageVersion } from '../../base/package-version.js';
import { environmentSchema } from '../../protocol/actions/common.js';
import { describeIssues, WorkcellError } from '../../protocol/index.js';
import { type ContextFiles, filesBelow } from './build-context.js';
import { type ExecutorBundle, executorBundle } from './bundle/executor-bundle.js';
import { type CamelLayer, camelLayer } from './camel/camel-layer.js';
import { readDirectoryBase } from './directory-base.js';
import { type Base, lockDockerfile, sourceDockerfile } from './dockerfile.js';
import { installSteps } from './install-steps.js';
import { type BasedSpec, type CheckedSpec, checkSpec, type ImageSpec } from './spec.js';
import { type ImageTags, imageTags } from './tags.js';

/** One line of progress of a build. */
export interface ImageProgress {
  readonly stage: 'base' | 'pull' | 'dependencies' | 'executor';
  /** One line of the engine's output. */
  readonly message: string;
}

/** How to build an image: progress, cancellation, variables and network for the commands that install. */
export interface BuildOptions {
  readonly onProgress?: ((progress: ImageProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Variables for the commands that install, such as `HTTPS_PROXY` or `PIP_INDEX_URL`. They can hold secrets: neither
   * the image nor its history keeps them, and the builder masks the output of the commands.
   */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The network of those commands, by the engine's name for it. Default: the engine's own. */
  readonly network?: string | undefined;
  /** Builds even if the image exists. */
  readonly force?: boolean | undefined;
}

/** The image that a build found or made. */
export interface RuntimeImage {
  /** The name to start cells from. */
  readonly name: string;
  /** All names that we gave it or found it under. */
  readonly tags: readonly string[];
  /** What it had to build. */
  readonly built: 'nothing' | 'executor' | 'all';
}

/** Builds images, and says whether one exists. */
export interface ImageBuilder {
  build(spec: ImageSpec, options?: BuildOptions): Promise<RuntimeImage>;
  exists(image: string, options?: { signal?: AbortSignal | undefined }): Promise<boolean>;
}

/** A place that holds and builds images. */
export interface ImageService {
  /** The full name of a repository, where the place has them elsewhere. */
  repositoryFor?(repository: string, signal: AbortSignal | undefined): Promise<string>;
  /** Finds the base image, and fetches it if necessary. */
  findBase(name: string, job: Pick<BuildJob, 'platform' | 'onProgress' | 'signal'>): Promise<FoundBase>;
  exists(image: string, signal: AbortSignal | undefined): Promise<boolean>;
  /** Gives an image further names. */
  tag?(image: string, names: readonly string[]): Promise<void>;
  build(job: BuildJob): Promise<void>;
}

export interface FoundBase extends Base {
  /** Changes when the image under this name does. */
  readonly id: string;
}

export interface BuildJob {
  readonly dockerfile: string;
  /** Whether we wrote the Dockerfile. */
  readonly isOwn: boolean;
  readonly files: ContextFiles;
  /** The names to give when everything succeeded. */
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly platform: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly network: string | undefined;
  readonly force: boolean;
  /** Receives one line at a time. */
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** On every image that we built here: which part it is. */
export const partLabel = 'workcell.image';
export const baseLabel = 'workcell.image.base';

export function createBuilder(service: ImageService): ImageBuilder {
  const turns = new Map<string, Promise<unknown>>();
  return {
    exists: (image, options = {}) => service.exists(image, options.signal),
    async build(given, options = {}) {
      const { signal, onProgress } = options;
      const checked = checkSpec(given);
      checkVariables(options.variables);
      if (signal?.aborted) throw cancelled();
      const repository = await service.repositoryFor?.(checked.repository, signal);
      const named = repository === undefined ? checked : { ...checked, repository };
      const spec = await withBase(service, named, options);
      const base = await service.findBase(spec.base, {
        platform: spec.platform,
        onProgress: (message) => onProgress?.({ stage: 'pull', message }),
        signal,
      });
      if (spec.camel && !spec.executor)
        throw new WorkcellError(
          'invalid-config',
          'An image for CAMEL needs the executor: do not leave it out.',
        );
      if (!spec.executor && installSteps(spec).length === 0)
        return tagged(service, spec, { name: spec.base, tags: [spec.base], built: 'nothing' });
      const bundle = spec.executor ? await bundleFor(spec.platform) : undefined;
      const camel = spec.camel ? await camelLayer() : undefined;
      const names = imageTags(spec, base.id, bundle, camel);
      // A second caller waits, and then finds the image.
      const before = turns.get(names.source);
      const turn = (async () => {
        await ended(before, signal);
        return make(service, { spec, names, base, bundle, camel }, options);
      })();
      turns.set(names.source, turn);
      try {
        return await tagged(service, spec, await turn);
      } finally {
        if (turns.get(names.source) === turn) turns.delete(names.source);
      }
    },
  };
}

/** Builds the base where it is a directory; the name of its image has a digest of what is in there. */
async function withBase(
  service: ImageService,
  spec: CheckedSpec,
  { signal, onProgress, variables = {}, network, force = false }: BuildOptions,
): Promise<BasedSpec> {
  const { base, repository, platform } = spec;
  if (typeof base === 'string') return { ...spec, base };
  const { dockerfile, files, hash } = await readDirectoryBase(base.directory);
  const parts = JSON.stringify([hash, platform, Object.entries(variables).sort()]);
  const name = `${repository}:dir_${createHash('sha256').update(parts).digest('hex').slice(0, 16)}`;
  if (force || !(await service.exists(name, signal)))
    await service.build({
      dockerfile,
      isOwn: false,
      files,
      tags: [name],
      labels: { [partLabel]: 'base', [baseLabel]: name },
      platform,
      variables,
      network,
      force,
      onProgress: (message) => onProgress?.({ stage: 'base', message }),
      signal,
    });
  return { ...spec, base: name };
}

async function tagged(
  service: ImageService,
  { tags }: CheckedSpec,
  image: RuntimeImage,
): Promise<RuntimeImage> {
  if (tags.length === 0) return image;
  if (service.tag === undefined)
    throw new WorkcellError('capability-unsupported', 'A remote service gives images no further names.');
  await service.tag(image.name, tags);
  return { ...image, tags: [...image.tags, ...tags] };
}

function cancelled(): WorkcellError {
  return new WorkcellError('cancelled', 'The build of the image was cancelled.');
}

/** Waits until an earlier build is over, whether or not it failed, or the caller cancels. */
function ended(before: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (before === undefined) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(cancelled());
    const goOn = () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    before.then(goOn, goOn);
  });
}

/** Their names go into shell source. */
function checkVariables(variables: BuildOptions['variables']): void {
  const result = environmentSchema.safeParse(variables ?? {});
  if (!result.success)
    throw new WorkcellError(
      'invalid-config',
      `The variables are not valid: ${describeIssues(result.error)}.`,
    );
}

/** What to build, and its names. */
interface Plan {
  readonly spec: BasedSpec;
  readonly names: ImageTags;
  readonly base: FoundBase;
  readonly bundle: ExecutorBundle | undefined;
  readonly camel: CamelLayer | undefined;
}

async function make(
  service: ImageService,
  { spec, names, base, bundle, camel }: Plan,
  options: BuildOptions,
): Promise<RuntimeImage> {
  const { signal, force = false } = options;
  const { lock, source, versioned } = names;
  const tags = [...new Set([source, lock, versioned])];
  if (!force && (await service.exists(source, signal))) return { name: source, tags, built: 'nothing' };
  const build = (part: 'dependencies' | 'executor', job: Pick<BuildJob, 'dockerfile' | 'files' | 'tags'>) =>
    service.build({
      ...job,
      isOwn: true,
      labels: { [partLabel]: part, [baseLabel]: spec.base, 'workcell.image.version': packageVersion() },
      platform: spec.platform,
      variables: options.variables ?? {},
      network: options.network,
      force,
      onProgress: (message) => options.onProgress?.({ stage: part, message }),
      signal,
    });

  const hasLock = lock !== source && !force && (await service.exists(lock, signal));
  if (!hasLock) {
    await build('dependencies', {
      dockerfile: lockDockerfile(spec, base, bundle),
      files: new Map(bundle === undefined ? [] : await nodeFiles(bundle)),
      tags: bundle === undefined ? [lock, versioned] : [lock],
    });
  }
  if (bundle !== undefined) {
    await build('executor', {
      dockerfile: sourceDockerfile({ reference: lock, user: base.user }, bundle, spec),
      files: new Map([...(await scriptFiles(bundle)), ...(camel?.files ?? [])]),
      tags: [source, versioned],
    });
  }
  return { name: source, tags, built: hasLock ? 'executor' : 'all' };
}

async function nodeFiles({ directory }: ExecutorBundle): Promise<[string, string][]> {
  return (await filesBelow(directory, '')).flatMap(([name, path]) =>
    isNode(name) ? [[`node${name}`, path]] : [],
  );
}

async function scriptFiles({ directory }: ExecutorBundle): Promise<[string, string][]> {
  return (await filesBelow(directory, '')).flatMap(([name, path]) =>
    isNode(name) ? [] : [[`executor${name}`, path]],
  );
}

/** Node with its libraries, which changes less often than the rest. */
function isNode(name: string): boolean {
  return name === '/node' || name.startsWith('/lib/');
}

/** Node comes from this machine, so it fits machines of the same kind. */
function bundleFor(platform: string | undefined): Promise<ExecutorBundle> {
  const architectures: Readonly<Record<string, string>> = { amd64: 'x64', arm64: 'arm64', s390x: 's390x' };
  const [, wanted = ''] = platform?.split('/') ?? [];
  if (platform === undefined || architectures[wanted] === process.arch) return executorBundle();
  throw new WorkcellError(
    'capability-unsupported',
    `This machine cannot make an executor for ${platform}: its Node is for ${process.arch}. Build on a machine of that kind, or leave the executor out.`,
    { details: { platform, architecture: process.arch } },
  );
}
