/**
 * Where code comes from that the configuration names: plugins, guards, tools, and files that decide as code does. It runs
 * on this side, so it is settled who names it.
 */
import { realpathSync } from 'node:fs';
import { dirname, relative as pathBetween, resolve } from 'node:path';
import { findHostProgram } from '../base/find-program.js';
import { configDirectory } from '../base/user-directories.js';
import { WorkcellError } from '../protocol/errors.js';
import { untrusted } from './file.js';
import type { LoadedConfig } from './load-config.js';

interface NamedCode {
  /** The setting, such as `plugins`. */
  readonly key: string;
  /** What one of them is called in messages. */
  readonly what: string;
  readonly names: readonly string[];
  /** True for the name of one that comes with this package. */
  readonly isOwn: (name: string) => boolean;
}

/** The directory that relative paths and packages are looked for from. */
export function codeDirectory(config: LoadedConfig, { key, what, names, isOwn }: NamedCode): string {
  const { sources, files, project } = config;
  const source = sources[key] ?? 'default';
  if (source === project) {
    const name = names.find((given) => !isOwn(given));
    if (name !== undefined) throw notCovered(what, name, source);
  }
  if (files.includes(source)) return dirname(source);
  if (source.startsWith('WORKCELL_')) {
    const name = names.find((given) => /^\.{1,2}\//.test(given));
    if (name !== undefined) throw relative(source, name);
    return configDirectory();
  }
  return process.cwd();
}

/**
 * Refuses a command that a project's file names and that reaches a file of the project. `key`: the setting; `place`: the key
 * within it. It starts in `/`, which is where relative names are taken from.
 */
export function checkCommand(
  { sources, project }: LoadedConfig,
  { key, place, command }: { key: string; place: string; command: readonly string[] | undefined },
): void {
  if (command === undefined || project === undefined || sources[key] !== project) return;
  const directory = dirname(project);
  const [name = '', ...args] = command;
  const program = name.includes('/') ? name : (findHostProgram(name) ?? name);
  const word = [program, ...args].find((text) => isOfProject(text, directory));
  if (word === undefined) return;
  throw untrusted(
    project,
    `${project} names ${JSON.stringify(word)} in ${place}.command, a file of the project whose content is not part of what was trusted. Use a program outside of the project, name the command in your own configuration, or use --config ${project}.`,
  );
}

function isOfProject(text: string, directory: string): boolean {
  if (directory === '/') return false;
  const path = resolve('/', text);
  return text.includes(`${directory}/`) || [path, realPath(path)].some((one) => isBelow(one, directory));
}

function isBelow(path: string, directory: string): boolean {
  return !/^\.\.(?:\/|$)/.test(pathBetween(directory, path));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** To trust a file says nothing of other files that it names, and whoever works in the project can change those. */
function notCovered(what: string, name: string, file: string): WorkcellError {
  return untrusted(
    file,
    `${file} names the ${what} "${name}", whose content is not part of what was trusted. A file that is found by searching may name what comes with this package only. Name the ${what} in your own configuration, in code, or use --config ${file}.`,
  );
}

function relative(variable: string, name: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `${variable} names "${name}": a variable holds in every directory, so give an absolute path, or a package that is installed in ${configDirectory()}.`,
    { details: { name } },
  );
}
