import { Command, InvalidArgumentError } from 'commander';
import type { ImageBuilder, ImageProgress } from '../../backends/images/index.js';
import { collect, collectVariable } from '../../base/command-line.js';
import { plainText } from '../sanitize.js';

interface BuildCommandOptions {
  base?: string;
  tag: string[];
  platform?: string;
  systemPackage: string[];
  pythonPackage: string[];
  extraDeps?: string;
  executor: boolean;
  camel?: true;
  repository?: string;
  env?: Record<string, string>;
  network?: string;
  service?: string;
  serviceKeyFile?: string;
  force?: true;
  json?: true;
}

const notes = `
You can start cells from any image. Build one to have packages in it, or the
executor itself, for places that cannot mount it.

Examples:
  $ workcell images build --base debian:bookworm --system-package jq
  $ workcell images build --base debian:bookworm --extra-deps 'apt-get install -y jq'
  $ workcell images build --base debian:bookworm --python-package numpy --env PIP_INDEX_URL
  $ workcell images build --base python:3.12 --python-package camel-ai --camel
  $ workcell images build ./my-image --tag my-image:1 --tag my-image:latest
  $ workcell images list
  $ workcell images prune`;

/** `workcell images`: builds, lists and removes runtime images of a Docker Engine. */
export function imagesCommand(): Command {
  const images = new Command('images')
    .description('Build, list and remove images for cells')
    .addHelpText('after', notes);
  images
    .command('build')
    .description('Build an image, unless it exists')
    .argument('[directory]', 'directory with a Dockerfile to start from, in place of --base')
    .option('--base <image>', 'image to start from, such as debian:bookworm')
    .option('--system-package <name>', "package of the base's distribution; may be repeated", collect, [])
    .option('--python-package <requirement>', 'requirement for pip; may be repeated', collect, [])
    .option('--extra-deps <shell>', 'what root runs last, such as "apt-get install -y jq"')
    .option('--no-executor', 'leave Node and the executor out; Workcell mounts them into each cell')
    .option('--camel', "let CAMEL's DockerRuntime, unchanged, use the image")
    .option('--platform <platform>', 'such as linux/arm64, where the engine can run it')
    .option('--tag <name>', 'a further name for the image; may be repeated', collect, [])
    .option('--repository <name>', 'name to give tags to (default: workcell-runtime)')
    .option(
      '-e, --env <NAME=value>',
      'variable while installing, such as a proxy; the image does not keep it; may be repeated',
      collectVariable,
    )
    .option('--network <name>', "the engine's network to install with")
    .option('--service <url>', 'service that builds instead of the engine')
    .option('--service-key-file <file>', 'file with the key of the service')
    .option('--force', 'build even if the image exists')
    .option('--json', 'print one line of JSON')
    .action(build);
  images
    .command('list')
    .description('List the images that you built')
    .option('--json', 'print one line of JSON')
    .action(list);
  images
    .command('prune')
    .description('Remove built images that nothing uses')
    .option('--repository <name>', 'only those with a name in it (default: all)')
    .option('--json', 'print one line of JSON')
    .action(prune);
  return images;
}

async function build(directory: string | undefined, options: BuildCommandOptions): Promise<void> {
  const base = directory === undefined ? options.base : { directory };
  if (base === undefined || (directory !== undefined && options.base !== undefined))
    throw new InvalidArgumentError('Give a directory with a Dockerfile, or an image with --base.');
  const { watchInterrupts } = await import('../interrupts.js');
  using interrupts = watchInterrupts();
  const image = await (await chooseBuilder(options)).build(
    {
      base,
      tags: options.tag,
      platform: options.platform,
      systemPackages: options.systemPackage,
      pythonPackages: options.pythonPackage,
      extraDeps: options.extraDeps,
      executor: options.executor,
      camel: options.camel,
      ...(options.repository !== undefined && { repository: options.repository }),
    },
    {
      variables: options.env,
      network: options.network,
      force: options.force,
      signal: interrupts.signal,
      onProgress: show,
    },
  );
  process.stdout.write(`${options.json ? JSON.stringify(image) : image.name}\n`);
}

async function chooseBuilder({ service, serviceKeyFile }: BuildCommandOptions): Promise<ImageBuilder> {
  const { dockerBuilder, remoteBuilder } = await import('../../backends/images/index.js');
  if (service === undefined) return dockerBuilder();
  const { readToken } = await import('../../base/http/token.js');
  const apiKey = readToken({ file: serviceKeyFile, descriptor: undefined });
  if (apiKey === undefined)
    throw new InvalidArgumentError('--service needs --service-key-file with the key of the service.');
  return remoteBuilder({ url: service, apiKey });
}

/** Standard output is for the name alone, so that a script can take it. */
function show({ stage, message }: ImageProgress): void {
  process.stderr.write(`${stage}: ${plainText(message)}\n`);
}

async function list(options: { json?: true }): Promise<void> {
  const { listImages } = await import('../../backends/images/index.js');
  const images = await listImages();
  if (options.json) {
    process.stdout.write(`${JSON.stringify(images)}\n`);
    return;
  }
  const { formatTable } = await import('../text-table.js');
  const rows = images.map((image) => [
    image.part,
    image.base,
    size(image.sizeBytes),
    image.createdAt.toISOString().slice(0, 16).replace('T', ' '),
    image.inUse ? 'yes' : 'no',
    image.tags.length > 0 ? image.tags.join(' ') : image.id,
  ]);
  const header = ['part', 'base', 'size', 'built', 'in use', 'names'];
  process.stdout.write(`${plainText(formatTable(header, rows))}\n`);
}

async function prune(options: { repository?: string; json?: true }): Promise<void> {
  const { pruneImages } = await import('../../backends/images/index.js');
  const pruned = await pruneImages({ repository: options.repository });
  if (options.json) {
    process.stdout.write(`${JSON.stringify(pruned)}\n`);
    return;
  }
  for (const { tags, id } of pruned.removed) process.stdout.write(`removed ${tags.join(' ') || id}\n`);
  for (const { tags, id } of pruned.kept) process.stdout.write(`kept ${tags.join(' ') || id}\n`);
  process.stdout.write(`${size(pruned.freedBytes)} freed.\n`);
}

function size(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
