/** Runtime images: the executor for any base, and builders that install more into one. */

export type {
  BuildOptions,
  ImageBuilder,
  ImageProgress,
  RuntimeImage,
} from './builder.js';
export { type BundleOptions, bundleMount, type ExecutorBundle, executorBundle } from './bundle/bundle.js';
export { type BuiltImage, listImages, type Pruned, type PruneOptions, pruneImages } from './docker/images.js';
export { type DockerImagesOptions, dockerBuilder } from './docker/service.js';
export { type RemoteBuilderOptions, remoteBuilder } from './remote/service.js';
export type { ImageSpec } from './spec.js';
