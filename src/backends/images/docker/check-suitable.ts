/** Looks into an image without running anything of it. */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readTar } from '../../../base/tar-reader.js';
import { isAbandoned, ownedPrefix } from '../../../cell/launchers/scratch.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { Container, DockerClient } from '../../engines/docker-client.js';
import { isGone } from '../../engines/docker-engine.js';

/** More than any file that names a distribution has. */
const longestFile = 64 * 1024;

/** The one program that an executor cannot supply itself. */
const shells = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

/** Labels the container that inspects an image with the process that made it. */
const ownerLabel = 'workcell.image.check';

/** A look takes less, also on a slow machine. */
const longestLookMs = 600_000;

export async function checkSuitable(docker: DockerClient, image: string): Promise<void> {
  await removeAbandoned(docker);
  // It never starts, so its command does not matter; an image without a command needs one named.
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['/none'],
    Labels: { [ownerLabel]: ownedPrefix() },
  });
  try {
    for (const shell of shells) if (await has(container, shell)) return;
    const musl = await Promise.all(
      ['x86_64', 'aarch64'].map((kind) => has(container, `/lib/ld-musl-${kind}.so.1`)),
    );
    const name = (await systemName(container)) ?? 'The image';
    const isMusl = musl.includes(true);
    const advice = isMusl
      ? `--extra-deps 'apk add bash util-linux' (extraDeps in code)`
      : `--system-package bash (systemPackages in code)`;
    throw new WorkcellError(
      'image-unsuitable',
      `${name} has no bash, which every cell needs. Build an image that has it (workcell images build --base … ${advice}), or use one such as debian:bookworm.`,
      { details: { libc: isMusl ? 'musl' : 'glibc', system: name } },
    );
  } finally {
    await container.remove({ force: true });
  }
}

/** Removes containers whose process died while it inspected an image. */
async function removeAbandoned(docker: DockerClient): Promise<void> {
  const containers = await docker.listContainers({ all: true, filters: { label: [ownerLabel] } });
  const old = containers.filter(
    ({ Labels, Created }) =>
      isAbandoned(Labels[ownerLabel] ?? '') && Date.now() - Created * 1000 > longestLookMs,
  );
  await Promise.allSettled(old.map(({ Id }) => docker.getContainer(Id).remove()));
}

async function has(container: Container, path: string): Promise<boolean> {
  try {
    await container.infoArchive({ path });
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** The name that the image gives itself. */
async function systemName(container: Container): Promise<string | undefined> {
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    if (!(await has(container, path))) continue;
    const content = await readSmallFile(await container.getArchive({ path }));
    const name = /^PRETTY_NAME="?([\w .()/-]{1,80})"?$/m.exec(content)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

async function readSmallFile(archive: Readable): Promise<string> {
  for await (const { type, size, content } of readTar(archive))
    if (type === 'file' && size <= longestFile) return text(content);
  return '';
}
