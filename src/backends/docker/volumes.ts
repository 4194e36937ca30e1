/** What a container sees of this machine, and where. */
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import type { DockerClient, Mount } from '../engines/docker-client.js';
import { isGone } from '../engines/docker-engine.js';

interface Volume {
  readonly kind: 'named' | 'bind' | 'overlay';
  /** A name, or a path of this machine. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** Throws when we cannot mount the volume. */
export function readVolume(volume: string): Volume {
  const [, from = '', target = '', mode = 'rw'] =
    /^([^:]+):(\/[^:]*)(?::(rw|ro|overlay))?$/.exec(volume) ?? [];
  if (from === '') {
    throw refusal(
      volume,
      'is not understood. Write from:to, from:to:ro or from:to:overlay, with an absolute path as "to"',
    );
  }
  if (/docker\.sock$/.test(from)) {
    throw refusal(volume, 'would hand the cell the engine itself, and with it this machine. Leave it out');
  }
  const readOnly = mode === 'ro';
  if (!/[/~.]/.test(from[0] ?? '')) {
    if (mode === 'overlay') throw refusal(volume, 'cannot be an overlay: that works with directories only');
    return { kind: 'named', source: from, target, readOnly };
  }
  const source = resolve(from.replace(/^~(?=\/|$)/, homedir()));
  const stats = statSync(source, { throwIfNoEntry: false });
  if (stats === undefined)
    throw refusal(volume, `cannot be mounted: ${source} does not exist. Make it first`);
  if (mode !== 'overlay') return { kind: 'bind', source, target, readOnly };
  if (!stats.isDirectory()) throw refusal(volume, `cannot be an overlay: ${source} is not a directory`);
  return { kind: 'overlay', source, target, readOnly };
}

/** `upper` is an empty directory of the cell that takes the changes of an overlay. */
export function toMount(volume: string, upper: string): Mount {
  const { kind, source, target, readOnly } = readVolume(volume);
  if (kind === 'overlay') return overlay(source, target, upper);
  return { Type: kind === 'named' ? 'volume' : 'bind', Source: source, Target: target, ReadOnly: readOnly };
}

/** Mount points of volumes that the engine does not have yet and makes for this cell. */
export async function findNewVolumes(docker: DockerClient, volumes: readonly string[]): Promise<string[]> {
  const named = volumes.map(readVolume).filter(({ kind, readOnly }) => kind === 'named' && !readOnly);
  const isNew = await Promise.all(
    named.map(({ source }) => docker.findVolume(source).then(() => false, isGone)),
  );
  return named.filter((_, index) => isNew[index]).map(({ target }) => target);
}

function overlay(source: string, target: string, upper: string): Mount {
  const written = join(upper, 'written');
  mkdirSync(written, { recursive: true });
  mkdirSync(join(upper, 'work'));
  const { mode, uid, gid } = statSync(source);
  chmodSync(written, mode & 0o7777);
  if (process.getuid?.() === 0) chownSync(written, uid, gid);
  return {
    Type: 'volume',
    Source: '',
    Target: target,
    VolumeOptions: {
      NoCopy: true,
      Labels: {},
      DriverConfig: {
        Name: 'local',
        Options: {
          type: 'overlay',
          device: 'overlay',
          o: `lowerdir=${source},upperdir=${written},workdir=${join(upper, 'work')}`,
        },
      },
    },
  };
}

function refusal(volume: string, reason: string): WorkcellError {
  return new WorkcellError('invalid-config', `The volume "${volume}" ${reason}.`, { details: { volume } });
}
