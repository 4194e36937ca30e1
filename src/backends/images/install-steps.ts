/**
 * Commands that install what a spec asks for, one for each layer. They get the words of the spec as arguments, so
 * that no word of it is ever part of their source.
 */
import { programText } from '../../base/program-text.js';
import type { CheckedSpec } from './spec.js';

/** As in install-python.sh. */
export const pythonHome = '/opt/python';

/** How a step ends that cannot work on this base; its last line says why. */
export const unsuitable = 87;

const text = (name: string) => programText(name, import.meta.url);

/** Each as the source of a shell program and its arguments. */
export function installSteps(spec: CheckedSpec): string[][] {
  const { systemPackages, pythonPackages, extraDeps = '' } = spec;
  const steps: string[][] = [];
  if (systemPackages.length > 0)
    steps.push([`${text('install-packages.sh')}install "$@"`, ...systemPackages]);
  if (pythonPackages.length > 0)
    steps.push([`${text('install-packages.sh')}${text('install-python.sh')}`, ...pythonPackages]);
  if (extraDeps.trim() !== '') steps.push([text('install-extra.sh'), extraDeps]);
  return steps;
}
