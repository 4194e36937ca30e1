import { stripVTControlCharacters } from 'node:util';
import { quote } from '../../../base/shell-quote.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { DockerClient } from '../../engines/docker-client.js';
import { packContext } from '../build-context.js';
import { createMask } from '../build-mask.js';
import type { BuildJob } from '../builder.js';
import { variablesArgument, variablesMark } from '../dockerfile.js';
import { unsuitable } from '../install-steps.js';
import { checkSuitable } from './check-suitable.js';
import { readMessages } from './engine-messages.js';

/** Lines of the output that an error quotes. */
const quotedLines = 20;
/** Report a longer line in pieces. */
const longestLine = 64 * 1024;

const ownSource = /^(Step \d+\/\d+ : RUN ).{100,}$/s;

/** Builds an image. It gets its name only when it is complete and passes the check. */
export async function buildInEngine(docker: DockerClient, job: BuildJob): Promise<void> {
  const { labels, platform, network, force, signal } = job;
  const context = packContext(job.dockerfile, job.files);
  let id: string;
  try {
    const stream = await docker.buildImage(context, {
      version: '1',
      labels,
      nocache: force,
      forcerm: true,
      // A Dockerfile of the user takes them as its build arguments.
      buildargs: job.isOwn ? { [variablesArgument]: asSource(job.variables) } : job.variables,
      ...(platform !== undefined && { platform }),
      ...(network !== undefined && { networkmode: network }),
      ...(signal !== undefined && { signal }),
    });
    id = await follow(stream, job);
  } finally {
    // An engine that refuses does not read it to the end.
    context.destroy();
  }
  try {
    await checkSuitable(docker, id);
  } catch (error) {
    await docker
      .getImage(id)
      .remove()
      .catch(() => {});
    throw error;
  }
  for (const tag of job.tags) {
    const at = tag.lastIndexOf(':');
    await docker.getImage(id).tag({ repo: tag.slice(0, at), tag: tag.slice(at + 1) });
  }
}

/** Reads the engine's output until it is done. Returns the id of the image. */
async function follow(stream: NodeJS.ReadableStream, job: BuildJob): Promise<string> {
  const mask = createMask(job.variables);
  const quoted: string[] = [];
  let id: string | undefined;
  let rest = '';
  const tell = (text: string) => {
    // The engine repeats what it runs, and colours what comes from standard error.
    const line = stripVTControlCharacters(mask(text)).trimEnd().replace(ownSource, '$1…');
    if (line === '') return;
    quoted.push(line);
    if (quoted.length > quotedLines) quoted.shift();
    job.onProgress(line);
  };
  for await (const message of readMessages(stream)) {
    id = message.aux?.ID ?? id;
    // The engine cuts output anywhere; masking needs whole lines.
    const lines =
      `${rest}${message.stream ?? (message.status === undefined ? '' : `${message.status}\n`)}`.split(
        /[\r\n]/,
      );
    rest = lines.pop() ?? '';
    for (const line of lines) tell(line);
    if (message.error !== undefined || rest.length > longestLine) {
      tell(rest);
      rest = '';
    }
    if (message.error !== undefined) throw failure(message.errorDetail?.code, mask(message.error), quoted);
  }
  tell(rest);
  if (id === undefined)
    throw new WorkcellError('build-failed', 'The engine built no image and gave no reason.');
  return id;
}

function failure(exitCode: number | undefined, reason: string, lines: readonly string[]): WorkcellError {
  const log = lines.join('\n');
  if (exitCode === unsuitable) return new WorkcellError('image-unsuitable', lines.at(-1) ?? reason);
  const cause = exitCode === undefined ? reason : `a command ended with code ${exitCode}`;
  return new WorkcellError('build-failed', `The image build failed: ${cause}. The last lines:\n${log}`, {
    details: { exitCode, log },
  });
}

function asSource(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
  return [variablesMark, ...lines].join('\n');
}
