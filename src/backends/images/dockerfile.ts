/** Dockerfiles for the two images of a spec: its packages, and the executor on top of them. */

import { bundleMount, type ExecutorBundle } from './bundle/executor-bundle.js';
import { camelLines } from './camel/camel-layer.js';
import { installSteps, pythonHome } from './install-steps.js';
import type { CheckedSpec } from './spec.js';

export interface Base {
  /** As `FROM` takes it. */
  readonly reference: string;
  /** The user that the base has set, which the image keeps. */
  readonly user: string;
}

/**
 * A build argument that Docker passes to commands without declaring it, and keeps out of history and cache. It carries
 * shell source that sets variables, such as the address of a package index with a password in it.
 */
export const variablesArgument = 'FTP_PROXY';
/** The first line of that source. It distinguishes our value from one of the base. */
export const variablesMark = '# workcell';

const readVariables = `
case "$${variablesArgument}" in '${variablesMark}'*) eval "$${variablesArgument}"; unset ${variablesArgument} ;; esac`;

/** That of the base, which may set none. */
const searchPath = `\${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}`;

/** Installs the packages. With an executor, its Node comes first: it changes least. */
export function lockDockerfile(spec: CheckedSpec, base: Base, bundle: ExecutorBundle | undefined): string {
  const lines = [`FROM ${base.reference}`, 'USER 0:0'];
  if (bundle !== undefined) lines.push(`COPY --chown=0:0 node ${bundleMount}/`);
  for (const [script = '', ...words] of installSteps(spec)) {
    lines.push(`RUN ${json(['/bin/sh', '-ec', `${readVariables}\n${script}`, 'sh', ...words])}`);
  }
  if (spec.pythonPackages.length > 0) lines.push(`ENV PATH=${pythonHome}/bin:${searchPath}`);
  if (base.user !== '') lines.push(`USER ${base.user}`);
  return `${lines.join('\n')}\n`;
}

export function sourceDockerfile(lock: Base, bundle: ExecutorBundle, { camel }: CheckedSpec): string {
  const lines = [
    `FROM ${lock.reference}`,
    `COPY --chown=0:0 executor ${bundleMount}/`,
    ...(camel ? camelLines(searchPath) : [`ENTRYPOINT ${json(bundle.command())}`, 'CMD []']),
  ];
  return `${lines.join('\n')}\n`;
}

/** On one line, and without what some builders take for the start of a here-document. */
function json(words: readonly string[]): string {
  return JSON.stringify(words).replaceAll('<', '\\u003c');
}
