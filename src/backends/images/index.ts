/** Runtime images: the executor for any base, and builders that install more into one. */

export type {
  BuildOptions,
  ImageBuilder,
  ImageProgress,
  RuntimeImage,
} from './builder.js';
export {
  type BundleOptions,
  bundleMount,
  type ExecutorBundle,
  executorBundle,
} from './bundle/executor-bundle.js';
export {
  type BuiltImage,
  listImages,
  type Pruned,
  type PruneOptions,
  pruneImages,
} from './docker/built-images.js';
export { type DockerImagesOptions, dockerBuilder } from './docker/docker-builder.js';
export { type RemoteBuilderOptions, remoteBuilder } from './remote/remote-builder.js';
export type { ImageSpec } from './spec.js';
