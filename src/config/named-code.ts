/**
 * Locates code that the configuration names: plugins, guards, tools, and files that decide as code does. It runs on
 * the trusted side, so only trusted sources may name it.
 */
import { dirname } from 'node:path';
import { configDirectory } from '../base/user-directories.js';
import { WorkcellError } from '../protocol/errors.js';
import { untrusted } from './file.js';
import type { LoadedConfig } from './load-config.js';

export { checkTrustedModule } from '../base/trusted-module.js';

interface NamedCode {
  /** The setting, such as `plugins`. */
  readonly key: string;
  /** The word for one of them in messages. */
  readonly what: string;
  readonly names: readonly string[];
  /** True for the name of one that comes with this package. */
  readonly isOwn: (name: string) => boolean;
}

/** The directory from which to look for relative paths and packages. */
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
    if (name !== undefined) throw relativeInVariable(source, { what, name });
    return configDirectory();
  }
  return process.cwd();
}

/**
 * Refuses a command in a file found by searching, trusted or not. Its words do not tell what a program then reads,
 * and whoever works in the project can change the project's files. `key`: the setting; `place`: the key within it.
 */
export function checkCommand(
  { sources, project }: LoadedConfig,
  { key, place, command }: { key: string; place: string; command: readonly string[] | undefined },
): void {
  if (command === undefined || project === undefined || sources[key] !== project) return;
  throw untrusted(
    project,
    `${project} names a program in ${place}.command, and what it runs is not part of what was trusted. A file that is found by searching may name no command that runs on this machine. Use env or file there, name the command in your own configuration, or use --config ${project}.`,
  );
}

/**
 * Trust in a file does not cover other files that it names, and whoever works in the project can change those. `own`:
 * the names that the file may use, where there are few.
 */
export function notCovered(what: string, name: string, file: string, own?: readonly string[]): WorkcellError {
  const allowed = own === undefined ? '' : `: ${own.join(', ')}`;
  return untrusted(
    file,
    `${file} names the ${what} "${name}", whose content is not part of what was trusted. A file that is found by searching may name what comes with this package only${allowed}. Name the ${what} in your own configuration, in code, or use --config ${file}.`,
  );
}

/** Refuses a relative path in a variable. `beside`: packages beside this one count, too. */
export function relativeInVariable(
  variable: string,
  { what, name, beside = false }: { what: string; name: string; beside?: boolean },
): WorkcellError {
  const where = `${beside ? 'beside this one or ' : ''}in ${configDirectory()}`;
  return new WorkcellError(
    'invalid-config',
    `${variable} names the ${what} "${name}": a variable holds in every directory, so give an absolute path, or a package that is installed ${where}.`,
    { details: { name } },
  );
}
