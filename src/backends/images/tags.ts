/**
 * The names of an image. The lock tag identifies the installed packages, the source tag adds the executor, so that
 * each part is rebuilt only when it changed. The versioned tag is for people: the newest image for a version and a
 * base.
 */
import { createHash } from 'node:crypto';
import { packageVersion } from '../../base/package-version.js';
import type { ExecutorBundle } from './bundle/executor-bundle.js';
import type { CamelLayer } from './camel/camel-layer.js';
import { installSteps } from './install-steps.js';
import type { BasedSpec } from './spec.js';

export interface ImageTags {
  readonly lock: string;
  /** The same as `lock` for an image without an executor. */
  readonly source: string;
  readonly versioned: string;
}

/** `baseId` identifies the current base, so that we notice a newer one under the same name. */
export function imageTags(
  spec: BasedSpec,
  baseId: string,
  bundle: ExecutorBundle | undefined,
  camel?: CamelLayer,
): ImageTags {
  const { repository, base, platform } = spec;
  const version = packageVersion();
  const parts = [baseId, platform ?? '', bundle?.nodeHash ?? '', installSteps(spec)];
  const lock = `${repository}:wc_v${version}_${hash(parts)}`;
  return {
    lock,
    source: bundle === undefined ? lock : `${lock}_${hash([bundle.hash, camel?.hash])}`,
    versioned: `${repository}:wc_v${version}_${slug([base, platform, camel && 'camel'].filter(Boolean).join('_'))}`,
  };
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** The end of a name tells more than its beginning. */
function slug(base: string): string {
  return base
    .replaceAll('/', '_s_')
    .replace(/[:@]/g, '_t_')
    .toLowerCase()
    .replace(/[^\w.-]/g, '_')
    .slice(-96);
}
