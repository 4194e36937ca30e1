/** Every option of the command line stands in the page of options, below its command, and a shell completes it. */
import { execFileSync } from 'node:child_process';
import type { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { builtFile } from '../built-file.js';
import { readText } from './source.js';

const commands = commandsBelow(createProgram());

test('the page of options says under each command what its options are', () => {
  const sections = readText('docs/reference/options.md').split(/^## /m);
  const unnamed = commands.flatMap(({ path, options }) => {
    const own = sections.find((section) => section.startsWith(`workcell ${path}\n`)) ?? '';
    return options
      .filter(({ long }) => long && !new RegExp(`(?<![\\w-])${long}(?![\\w-])`).test(own))
      .map(({ long }) => `${path} ${long}`);
  });
  expect(unnamed).toEqual([]);
});

test('a shell offers each option of a command', () => {
  const script = execFileSync(process.execPath, [builtFile('cli/main.cjs'), 'completion', 'bash']);
  const ask = `for line in ${commands.map(({ path }) => `'${path}'`).join(' ')}; do
  COMP_WORDS=(workcell $line --); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _workcell
  echo "$line \${COMPREPLY[*]}"
done`;
  const said = execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' }).split('\n');
  const missing = commands.flatMap(({ path, options }, index) =>
    options
      .filter(({ long }) => long && !said[index]?.split(' ').includes(long))
      .map(({ long }) => `${path} ${long}`),
  );
  expect(missing).toEqual([]);
});

function commandsBelow(command: Command, path = ''): { path: string; options: readonly Option[] }[] {
  const below = command.commands.flatMap((each) => commandsBelow(each, `${path} ${each.name()}`.trim()));
  return path === '' ? below : [{ path, options: command.options }, ...below];
}
