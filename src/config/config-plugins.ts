/** Where plugins of the configuration come from. They are code that runs on this side, so it is settled who names them. */
import { dirname } from 'node:path';
import { configDirectory } from '../base/user-directories.js';
import type { PluginSpec } from '../protocol/config.js';
import { WorkcellError } from '../protocol/errors.js';
import { untrusted } from './file.js';
import type { LoadedConfig } from './load-config.js';

/** The plugins, and the directory that relative paths and packages are looked for from. `builtin` has those of this package. */
export function pluginsOf(
  config: LoadedConfig,
  builtin: Readonly<Record<string, unknown>>,
): { specs: readonly PluginSpec[] | undefined; from: string } {
  const { values, sources, files, project } = config;
  const source = sources.plugins ?? 'default';
  const names = (values.plugins ?? []).map((spec) => (typeof spec === 'string' ? spec : spec.name));
  if (source === project) {
    const name = names.find((given) => !Object.hasOwn(builtin, given));
    if (name !== undefined) throw notCovered(name, source);
  }
  if (files.includes(source)) return { specs: values.plugins, from: dirname(source) };
  if (source === 'WORKCELL_PLUGINS') {
    const name = names.find((given) => /^\.{1,2}\//.test(given));
    if (name !== undefined) throw relative(name);
    return { specs: values.plugins, from: configDirectory() };
  }
  return { specs: values.plugins, from: process.cwd() };
}

/** To trust a file says nothing of other files that it names, and whoever works in the project can change those. */
function notCovered(name: string, file: string): WorkcellError {
  return untrusted(
    file,
    `${file} names the plugin "${name}", whose code is not part of what was trusted. A file that is found by searching may name plugins of this package only. Name the plugin in your own configuration, in code, or use --config ${file}.`,
  );
}

function relative(name: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `WORKCELL_PLUGINS names "${name}": a variable holds in every directory, so give an absolute path, or a package that is installed in ${configDirectory()}.`,
    { details: { plugin: name } },
  );
}
